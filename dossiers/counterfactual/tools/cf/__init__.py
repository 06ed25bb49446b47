"""The command-line tools of counterfactual analysis."""
