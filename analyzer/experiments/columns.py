"""Names of the columns in a table of experiments, by their role: identity, scale, times, parameters."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.metrics.region_parameters import PARAMETER_PREFIX

REGION, RUN, RANK, THREAD, EXECUTION = "region", "run", "rank", "thread", "execution"
NODE, RANKS, NODES, THREADS = "node", "ranks", "nodes", "threads"
BEGIN, TIME, EXCLUSIVE, COMPUTING, MPI = "begin", "time", "exclusive", "computing", "mpi"
KIND, NAME = "kind", "name"

IDENTITY = (REGION, RUN, NODE, RANK, THREAD, EXECUTION)
"""Columns that identify an execution of a region."""
SCALE = (RANKS, THREADS, NODES)
"""Columns that describe the run: number of ranks, largest number of threads of a rank, number of nodes."""
TIMES = (BEGIN, TIME, EXCLUSIVE, COMPUTING, MPI)
"""Columns of times in s. BEGIN counts from the start of the trace."""
FIXED = (*IDENTITY, *SCALE, *TIMES)
"""Columns of every table of executions, in this order. Counters, samples of the node and parameters follow."""

NODE_PREFIX = "node_"
CLOCK = "CLOCK"
"""Name of the wall-clock time in s in files of TIA (section 2.3); our name is `time`."""
OBSERVABLES = ("PAPI_REAL_USEC", CLOCK, TIME)
"""Columns that are modelled unless the user names one; the first that exists (Rodriguez 2011, section 2.5.2).

`time` is our addition.
"""


def parameter_columns(names: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the columns of a table that hold parameters of the program.

    Args:
        names: Names of the program's parameters.
        columns: Columns of the table.
    """
    there = set(columns)
    own = ((PARAMETER_PREFIX + name if PARAMETER_PREFIX + name in there else name, name) for name in names)
    return [column for column, name in own if column in there and column not in FIXED]
