"""Sources of a `Trace`: our own runs, and traces that other tools made."""
