"""Thread of a rank: its rows in a window of time, as records of the trace.

These are calls, regions, counters, samples and summed calls of one thread. Rows come from `rank_file`. This package
uses nothing of other ranks.
"""
