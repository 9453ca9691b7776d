"""Counters in synthetic runs: their sets, and blocks of rows that were counted."""

import numpy as np

from tracelib import schema

CPU, FAULTS, INS = b"CPU_NS", b"perf::PAGE-FAULTS", b"PAPI_TOT_INS"


SETS = [(1, 0, 42009998, 1, CPU), (1, 1, 44000001, 2, FAULTS), (2, 0, 42009998, 1, CPU), (2, 1, 42000050, 4, INS)]


def block(calls, counts, thread=0, set=0, first_call=0, first_count=0, polls=0, events=0, flags=1):
    row = np.zeros(1, schema.BLOCK)
    row["first"][0, 0], row["count"][0, 0] = first_call, calls
    row["first"][0, 6], row["count"][0, 6] = first_count, counts
    row["count"][0, 2], row["count"][0, 3] = polls, events
    row["thread"], row["set"], row["flags"] = thread, set, flags
    return row
