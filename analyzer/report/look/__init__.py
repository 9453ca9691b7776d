"""The first look: a summary, computed once, and its tables, sentences and JSON."""
