"""Where a `Trace` comes from: our own runs, and traces that others made."""
