"""Runs of tracelib as a `Trace`: run.h5, all of its rank files, and facts that need all ranks.

Such facts are aligned clocks, communicators, how the run ended, and other runs that it communicated with. This package
may import `matching`, `thread_records` and `rank_file`.
"""
