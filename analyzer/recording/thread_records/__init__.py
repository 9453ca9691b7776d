"""One thread of a rank: its rows of a window of time, as records of the trace.

Calls, regions, counters, samples and sums of one thread. Takes rows from `rank_file`; of other ranks it knows nothing.
"""
