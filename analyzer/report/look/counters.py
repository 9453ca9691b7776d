"""The counters of a run as text and as plain data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rich.table import Table

from analyzer.metrics.counters import Counted
from analyzer.operations.bursts import CPU_TIME
from analyzer.report.words import units
from analyzer.trace import Counters, Trace

MOST = 16


def title(counted: Counted) -> str:
    """The title of the table, with instructions per cycle if they are known."""
    known = f"; {counted.ipc:.2f} instructions per cycle" if counted.ipc is not None else ""
    return f"Counters (computation: sum, by rank; MPI: sum){known}"


def form(name: str) -> Callable[[float], str]:
    """How a value of a counter is written: CPU time as a time, all others as numbers."""
    return units.time if name == CPU_TIME else units.count


def counters_table(counted: Counted, present: np.ndarray) -> Table:
    """A line for each counter."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim", expand=False)
    table.add_column("", no_wrap=True, overflow="ellipsis", max_width=28)
    for heading in ("total", "least", "mean", "most", "in MPI"):
        table.add_column(heading, justify="right", no_wrap=True)
    for column, counter in list(enumerate(counted.counters))[:MOST]:
        useful = counted.useful[present, column]
        cells = [useful.sum(), useful.min(), useful.mean(), useful.max(), counted.inside[present, column].sum()]
        table.add_row(counter.name, *(_number(float(value)) for value in cells))
    return table


def _number(value: float) -> str:
    return f"{value:.3g}" if value >= 1e6 else f"{value:.0f}"


def counters_json(counted: Counted, present: np.ndarray) -> dict[str, Any]:
    """By counter: sums over ranks, those of each rank, and the part of all bursts that was counted with it."""
    calls = int(counted.calls.sum())
    return {
        counter.name: {
            "event_type": counter.type,
            "useful": int(counted.useful[:, column].sum()),
            "useful_by_rank": counted.useful[present, column].tolist(),
            "mpi": int(counted.inside[:, column].sum()),
            "covered": int(counted.bursts[:, column].sum()) / calls if calls else None,
        }
        for column, counter in enumerate(counted.counters)
    }


def ipc_json(counted: Counted, present: np.ndarray) -> dict[str, Any]:
    """Instructions per cycle in computation; null where they were not counted together."""
    by_rank = counted.ipc_by_rank
    return {"all": counted.ipc, "by_rank": [by_rank[rank] for rank in present]}


def samples_json(trace: Trace) -> dict[str, int]:
    """Periodic samples of all ranks: those taken, and those that were due and missed."""
    by_rank = [trace.extra(Counters).sampled(rank) for rank in range(trace.size)]
    return {"count": sum(taken for taken, _ in by_rank), "missed": sum(missed for _, missed in by_rank)}
