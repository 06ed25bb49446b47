"""The command-line tool that the rich packaging adds."""
