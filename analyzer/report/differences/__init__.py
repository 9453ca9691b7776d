"""Differences between runs in words, as tables, as plain data and as CSV."""
