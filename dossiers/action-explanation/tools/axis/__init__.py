"""The command-line tools of action explanations."""
