"""The tools of this dossier, one file each."""
