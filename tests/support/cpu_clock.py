"""Ranks whose CPU clock was read at the entry and the exit of each call."""

import numpy as np
from synthetic import call, flush, poll

from tracelib import schema

COUNTERS = [(1, 0, schema.CPU_TIME_TYPE, 1, b"CPU_NS")]
NO = schema.NOT_READ


def rank(calls, counts, cpus="0", **more):
    """A rank with a reading of the CPU clock at each entry and exit."""
    block = np.zeros(1, schema.BLOCK)
    block["count"][0, [0, 6]], block["set"] = (len(calls), len(counts)), 1
    for table, position in (("polls", 2), ("events", 3)):
        block["count"][0, position] = len(more.get(table, ()))
    return {
        "calls": calls,
        "counts": np.array(counts, np.uint64),
        "counters": COUNTERS,
        "blocks": block,
        "cpus": cpus,
    } | more


def random_rank(random):
    """Calls, runs of polls and flushes that do not overlap, with a CPU clock that runs slower than the time."""
    calls, polls, events, counts, now, cpu = [call("MPI_Init", 1_000, 5_000)], [], [], [NO, 0], 5_000, 0
    for _ in range(random.randrange(1, 30)):
        burst = random.randrange(2_000, 50_000)
        cpu += random.randrange(burst + 1)
        now += burst
        what = random.choice(("call", "call", "poll", "flush"))
        length = random.randrange(1_000, 20_000)
        if what == "call":
            inside = random.randrange(length + 1)
            calls.append(call("MPI_Barrier", now, now + length))
            counts += [cpu, cpu + inside]
            cpu += inside
        elif what == "poll":
            polls.append(poll("MPI_Test", now, now + length, inside=length // 2, count=3))
        else:
            events += flush(now, now + length)
        now += length
    calls.append(call("MPI_Finalize", now + 100, now + 200))
    counts += [cpu + 100, cpu + 150]
    return rank(calls, counts, polls=polls, events=events)
