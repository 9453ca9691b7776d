"""The interface for Python programs: `analyzer.open` and the functions beside it (docs/python.md)."""
