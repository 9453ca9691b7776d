"""The live view as a browser and a terminal show it."""
