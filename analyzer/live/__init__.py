"""The live view: a run at any zoom, read from where it lies, and a small server that shows it in a browser."""
