"""Behaviour summaries: how much a state matters, and which states stand for an agent."""
