"""How long a run waited for the drivers that it asked (docs/drivers.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.trace import Mark, Regions, Trace
from tracelib.schema.asking import asked_driver

NS = 1e9


@dataclass(frozen=True)
class AskedDriver:
    """A driver that ranks asked while the program ran. count: how often; time_ns: how long they waited, in all."""

    name: str
    count: int
    time_ns: int


def asked_drivers(trace: Trace, team: Team) -> tuple[AskedDriver, ...]:
    """All drivers that were asked, by name. Collective over the team."""
    names = trace.extra(Regions).parameters
    driver_of = {number: driver for number, name in enumerate(names, 1) if (driver := asked_driver(name))}
    if not driver_of:
        return ()
    mine: dict[str, list[float]] = {}
    for rank in trace.share(team):
        marks = trace.extra(Regions).marks(rank)
        marks = marks[(marks["what"] == Mark.REAL) & np.isin(marks["number"], list(driver_of))]
        times_s = np.ascontiguousarray(marks["value"]).view(np.float64)
        for number, time_s in zip(marks["number"].tolist(), times_s.tolist(), strict=True):
            mine.setdefault(driver_of[number], []).append(time_s)
    every: dict[str, list[float]] = {}
    for part in team.allgather(mine):
        for name, times in part.items():
            every.setdefault(name, []).extend(times)
    return tuple(AskedDriver(name, len(times), round(NS * sum(times))) for name, times in sorted(every.items()))
