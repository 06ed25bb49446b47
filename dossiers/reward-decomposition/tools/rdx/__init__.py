"""The command-line tools of reward decomposition."""
