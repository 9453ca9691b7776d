"""The graph of a parallel program: what its processes do one after the other, and where they differ."""
