"""What a `Trace` can be written as."""
