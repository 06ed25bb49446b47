"""Counterfactual analysis: deviate and continue, foil policies, and values that flip an action."""
