"""Differences between runs in sentences, as tables, for JSON and as CSV."""
