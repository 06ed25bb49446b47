"""The command-line tools of behaviour summaries."""
