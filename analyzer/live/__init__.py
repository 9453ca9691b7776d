"""The live view: a run at any zoom, read from its files, and the data that a browser shows."""
