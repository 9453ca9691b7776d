"""Our own runs as a `Trace`: run.h5, all of its rank files, and what only all of them together say.

Clocks brought together, communicators, how the run ended, runs that it met. Above `matching`, `lane` and `rank_file`.
"""
