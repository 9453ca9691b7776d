"""Writers of a `Trace` in other formats."""
