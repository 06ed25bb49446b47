"""Decision trees that imitate an agent (VIPER): weights, data, trees as arrays, the choice of a student, text."""
