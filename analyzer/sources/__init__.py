"""Sources of a `Trace`: runs of tracelib, and traces of other tools."""
