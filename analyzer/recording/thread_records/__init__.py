"""Thread of a rank: its rows of a window of time, as records of the trace.

Calls, regions, counters, samples and summed calls of one thread. Rows come from `rank_file`. This package knows nothing
of other ranks.
"""
