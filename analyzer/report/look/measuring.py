"""What measuring took in a run, for each driver (Rodriguez 2011, sections 1.2.3 and 2.3: little, and said)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from analyzer.report.look.summary import Summary
from analyzer.report.words.units import plural, time

MEASURED, ESTIMATED, ELSEWHERE = "measured", "calls times a measured cost", "in processes of their own"


@dataclass(frozen=True)
class Cost:
    """What one driver took. count: its calls, answers, samples, or writings; time_s: of all ranks, None: none of
    theirs."""

    driver: str
    what: str
    count: int | None
    time_s: float | None
    how: str


def costs(summary: Summary) -> tuple[Cost, ...]:
    """All that took something; () for a trace of another tool, which does not say."""
    return tuple(_costs(summary)) if summary.trace.origin.tracer_times else ()


def _costs(summary: Summary) -> Iterator[Cost]:
    present, lost = summary.present, summary.flushes
    calls = int(summary.profile.count[present].sum())
    if calls:
        name = "CLOCK and PAPI" if summary.counted.bursts.any() else "CLOCK"
        yield Cost(name, "call", calls, float(summary.useful.tracer_by_rank()[present].sum()) / 1e9, ESTIMATED)
    for name, ns in (("callers of calls", lost.paths_ns), ("clocks of nodes", lost.clocks_ns)):
        if ns[present].any():
            yield Cost(name, "", None, float(ns[present].sum()) / 1e9, MEASURED)
    if lost.writing_ns[present].any():
        yield Cost("writing buffers", "", None, float(lost.writing_ns[present].sum()) / 1e9, MEASURED)
    for driver in summary.drivers:
        yield Cost(driver.name, "answer", driver.count, driver.time_ns / 1e9, MEASURED)
    if samples := sum(node.samples for node in summary.system):
        yield Cost("System", "sample", samples, None, ELSEWHERE)


def measuring_lines(summary: Summary) -> list[str]:
    """A line for each driver where the program asked some; else the time in the table of the report is enough."""
    return [_line(cost) for cost in costs(summary)] if summary.drivers else []


def _line(cost: Cost) -> str:
    count = "" if cost.count is None else f"{plural(cost.count, cost.what)}, "
    took = "" if cost.time_s is None else f"{time(round(cost.time_s * 1e9))}, "
    return f"{cost.driver}: {count}{took}{cost.how}"


def measuring_json(summary: Summary) -> list[dict[str, Any]]:
    """Numbers under stable names."""
    return [{name: value for name, value in asdict(cost).items() if name != "what"} for cost in costs(summary)]
