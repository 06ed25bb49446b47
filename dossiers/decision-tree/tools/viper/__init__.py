"""The command-line tools of decision trees."""
