"""Tools for interrogating a simulator about one recorded episode."""
