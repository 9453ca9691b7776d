"""Runs of tracelib: rank files, the records of each thread, the matching of messages, and all of it as a `Trace`."""
