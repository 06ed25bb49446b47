"""The command-line tools of trajectory digests."""
