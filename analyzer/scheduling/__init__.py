"""Applications that share processors: synthetic ones, and the indices by which scheduling policies are compared."""
