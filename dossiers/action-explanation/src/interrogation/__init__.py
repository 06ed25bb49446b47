"""Interrogating a simulator (AXIS): trajectories in words, things that can be changed, and the protocol of rounds."""
