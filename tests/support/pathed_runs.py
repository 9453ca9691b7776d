"""Random runs whose calls have paths, through functions of an interpreted program: their names are in the file."""

from __future__ import annotations

from hypothesis import strategies as st
from random_runs import runs

from tracelib import schema

FUNCTIONS = ((0, 0, b"", b""), (10, 1, b"solve", b"heat.py"), (40, 1, b"Exchange.start", b"exchange.py"))
LINES = 3
"""Number of lines behind a function's own in which it may call."""


@st.composite
def pathed_runs(draw: st.DrawFn) -> tuple[list[dict], int | None]:
    """As `random_runs.runs`. Each rank numbers the paths in its own order, and some calls have none."""
    ranks, tsc_per_us = draw(runs(most_threads=3))
    for rank in ranks:
        rank["functions"] = FUNCTIONS
        rank["paths"] = [(0, 0, 0)]
        for row in range(1, draw(st.integers(1, 8))):
            function = draw(st.integers(1, len(FUNCTIONS) - 1))
            line = FUNCTIONS[function][0] + draw(st.integers(1, LINES))
            rank["paths"].append((draw(st.integers(0, row - 1)), schema.PATH_IN_FUNCTION | function, line))
        path = st.integers(0, len(rank["paths"]) - 1)
        for table, of in schema.PATHS_OF.items():
            rank[table] = [draw(path) for _ in rank[of]]
        if "blocks" in rank:
            rank["blocks"]["count"] = [len(rank.get(name, ())) for name in schema.BUFFERED]
    return ranks, tsc_per_us


def chain(rank: dict, path: int) -> tuple[tuple[str, int], ...]:
    """Function and line of a path and of its callers."""
    found = []
    while path:
        path, module, line = rank["paths"][path]
        found.append((FUNCTIONS[module & ~schema.PATH_IN_FUNCTION][2].decode(), line))
    return tuple(found)
