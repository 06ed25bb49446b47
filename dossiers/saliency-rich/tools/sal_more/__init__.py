"""Two further tools: two agents side by side, and one group of entries value by value."""
