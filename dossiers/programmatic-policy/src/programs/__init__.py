"""Programmatic policies (NDPS): programs, their text, what they do, and the search for one that acts alike."""
