"""Reward decomposition: component values, reward difference explanations, minimal sufficient explanations."""
