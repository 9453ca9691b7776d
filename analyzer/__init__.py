"""The reading side: `analyzer.open(path)` gives a `Trace`, every analysis is a function of one."""
