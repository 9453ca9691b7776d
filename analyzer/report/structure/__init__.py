"""The structure of a run as a sentence, a table, plain data."""
