"""The live view as a browser and a terminal show it: the server, its answers, and printed numbers."""
