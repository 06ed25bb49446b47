"""The command-line tools of this dossier."""
