"""The columns of a table of experiments, by what they are: names, places, settings, measurements."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.metrics.region_parameters import PARAMETER_PREFIX

REGION, RUN, RANK, THREAD, EXECUTION = "region", "run", "rank", "thread", "execution"
NODE, RANKS, NODES, THREADS = "node", "ranks", "nodes", "threads"
BEGIN, TIME, EXCLUSIVE, COMPUTING, MPI = "begin", "time", "exclusive", "computing", "mpi"
KIND, NAME = "kind", "name"

IDENTITY = (REGION, RUN, NODE, RANK, THREAD, EXECUTION)
"""Columns that identify an execution."""
SCALE = (RANKS, THREADS, NODES)
"""Columns that describe the run: number of ranks, the most threads of a rank, number of nodes."""
TIMES = (BEGIN, TIME, EXCLUSIVE, COMPUTING, MPI)
"""Seconds. BEGIN counts from the start of the trace."""
FIXED = (*IDENTITY, *SCALE, *TIMES)
"""Columns of every table of executions, in this order; counters, samples of the node and parameters follow."""

NODE_PREFIX = "node_"
CLOCK = "CLOCK"
"""The thesis's name of the wall-clock time, which our `time` has in a file of TIA (section 2.3): in seconds."""
OBSERVABLES = ("PAPI_REAL_USEC", CLOCK, TIME)
"""Columns to model unless the user names one; the first that exists (Rodriguez 2011, section 2.5.2; `time` is ours)."""


def parameter_columns(names: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Select the columns of a table that are parameters of the program."""
    there = set(columns)
    own = ((PARAMETER_PREFIX + name if PARAMETER_PREFIX + name in there else name, name) for name in names)
    return [column for column, name in own if column in there and column not in FIXED]
