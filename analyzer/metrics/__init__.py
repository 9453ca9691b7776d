"""Analyses: pure functions from a `Trace` to a small result."""
