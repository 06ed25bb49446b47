"""The command-line tool that only the rich packaging of reward decomposition has."""
