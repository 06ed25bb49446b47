"""The command-line tools of programmatic policies."""
