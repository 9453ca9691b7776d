"""R1: regions, iterations and periods of four applications, and traces in which these are planted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from nested_runs import Flushes, Loop, Planted, Start, Step, Work

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.levels.by_signals import nodes_of
from analyzer.structure.levels.loop_tree import LoopNode
from analyzer.structure.levels.run_structure import IterationMethod, structure
from analyzer.structure.perturbations import PerturbationCause, perturbed
from analyzer.structure.signals.run_signals import SAMPLES, RunSignal, signals
from analyzer.trace import Trace
from benchmarks.results.published import table
from benchmarks.results.rows import Part, Row, listed, percent

RANKS, JITTER = 16, 0.005
KINDS = (("ring", "reduction"), ("skip", "transposition"))
"""Communication of loops and of single works inside an iteration, in turns."""
SLIPS = {
    "Gadget": "the first level 1 row is in none of the sums",
    "Linpack": "140318 / 1130 = 124.2, 130 printed",
}


def part(folder: Path) -> Part:
    """Compute all of R1."""
    regions = table("regions")
    applications = list(regions.groupby("application", sort=False))
    planted = [row for name, rows in applications for row in _found(name, rows, folder / name)]
    return Part(
        "R1: structure of four applications",
        (
            ("Properties of the published tables 3.1 to 3.5.", tuple(_invariants(regions))),
            (
                f"Traces of {RANKS} ranks in which these regions are planted, 0.5 % jitter, times as printed; found by "
                'the signal of calls of messages, as Casas 2009 did. "47306/5/9010": span, iterations, period.',
                tuple(planted),
            ),
        ),
    )


def _invariants(regions: pd.DataFrame) -> list[Row]:
    found = []
    for name, rows in regions.groupby("application", sort=False):
        whole, ones = rows[rows.level == 0].span_ms.iloc[0], rows[rows.level == 1]
        sums, note = ones.span_ms.sum(), SLIPS.get(str(name), "") if name == "Gadget" else ""
        found.append(Row(f"{name}: sum of the regions of level 1 (ms)", str(whole), str(sums), note))
        for region, inside in rows[rows.level == 2].groupby("region"):
            period = ones[ones.region == region].period_ms.iloc[0]
            row = Row(
                f"{name}, region {region}: sum of what is in a period", f"{period:.0f}", str(inside.span_ms.sum())
            )
            found.append(row)
    loops = regions[regions.period_ms.notna()]
    nearest = (loops.span_ms / loops.period_ms).round() == loops.iterations
    others = listed(loops.application[~nearest].unique())
    note = f"not of {others}: {SLIPS['Linpack']}"
    found.append(
        Row("iterations are span / period, to the nearest", "all but Linpack", f"{nearest.sum()} of {len(loops)}", note)
    )
    liso = regions[(regions.application == "Liso") & (regions.level == 1)]
    periods = liso.period_ms.dropna()
    found.append(Row("Liso: periodic regions", "6", str(len(periods))))
    found.append(Row("Liso: their periods differ by", "2.7 %", percent(periods.max() / periods.min() - 1)))
    flushed = liso[liso.flushing == "X"].span_ms.sum()
    whole = regions[(regions.application == "Liso") & (regions.level == 0)].span_ms.iloc[0]
    found.append(Row("Liso: regions with flushes", "59310 ms, 16.6 %", f"{flushed} ms, {percent(flushed / whole)}"))
    return found


def steps_of(rows: pd.DataFrame) -> list[Step]:
    """Return the regions of an application as steps of a planted trace."""
    steps: list[Step] = []
    inside = rows[rows.level == 2]
    inside = inside[inside.region == inside.region.min()]
    for one in rows[rows.level == 1].itertuples():
        if np.isnan(one.period_ms):
            steps.append(Flushes(one.span_ms) if one.flushing == "X" else Start(one.span_ms))
            continue
        body = (Work(0.7 * one.period_ms, "ring"), Work(0.3 * one.period_ms, "skip"))
        if len(inside):
            body = _body(inside, one.period_ms / inside.span_ms.sum())
        steps.append(Loop(round(one.span_ms / one.period_ms), body))
    return steps


def _body(inside: pd.DataFrame, times: float) -> tuple[Loop | Work, ...]:
    steps: list[Loop | Work] = []
    loops = alone = 0
    for one in inside.itertuples():
        if one.iterations > 1:
            steps.append(Loop(one.iterations, (Work(times * one.span_ms / one.iterations, KINDS[loops % 2][0]),)))
            loops += 1
        else:
            steps.append(Work(times * one.span_ms, KINDS[alone % 2][1]))
            alone += 1
    return tuple(steps)


def _found(name: str, rows: pd.DataFrame, folder: Path) -> list[Row]:
    planted = Planted(RANKS, jitter=JITTER).run(steps_of(rows))
    trace = open_trace(planted.written(folder, counters=False))
    nodes = by_signal(trace, "p2p")
    said = []
    loops = rows[(rows.level == 1) & rows.period_ms.notna()]
    for one, edges in zip(loops.itertuples(), planted.edges_ns, strict=True):
        node = max(nodes, key=lambda node: _shared(node, edges[0], edges[-1]), default=None)
        target = f"{one.span_ms}/{round(one.span_ms / one.period_ms)}/{one.period_ms:.0f}"
        said.append(Row(f"{name}, region {one.region}", target, _text(node) if node else "none"))
        inside = rows[(rows.level == 2) & (rows.region == one.region) & rows.period_ms.notna()]
        if len(inside):
            wanted = listed(f"{i.iterations}/{i.span_ms / i.iterations:.0f}" for i in inside.itertuples())
            got = listed(f"{i.loop.count}/{_period(i):.0f}" for i in node.inside) if node else "none"
            said.append(Row("... inside a period", wanted, got or "none"))
    if len(nodes) != len(loops):
        said.append(Row(f"{name}: regions with a period", str(len(loops)), str(len(nodes))))
    main = structure(trace, Team(), IterationMethod.CALLS).main
    count = sum(round(one.span_ms / one.period_ms) for one in loops.itertuples())
    note = "flushes are between two calls of the loop" if (rows.flushing == "X").any() else ""
    said.append(
        Row(f"{name}: iterations by the sequence of calls", str(count), str(main.count) if main else "none", note)
    )
    trace.close()
    return said


def by_signal(trace: Trace, name: str) -> list[LoopNode]:
    """Yield the loops that one signal shows by itself, between the flushes."""
    disturbed = [one for one in perturbed(trace, Team()) if one.cause is PerturbationCause.FLUSHING]

    def sampled(begin: int, end: int, samples: int) -> RunSignal:
        return signals(trace, Team(), [name], samples=samples, begin_ns=begin, end_ns=end)[name]

    return nodes_of(sampled(0, trace.duration_ns, SAMPLES), sampled, disturbed, trace.size, literal=False)


def _shared(node: LoopNode, begin: int, end: int) -> int:
    return min(node.loop.end_ns, end) - max(node.loop.begin_ns, begin)


def _period(node: LoopNode) -> float:
    return float(np.median(np.diff(node.loop.edges[0]))) / 1e6


def _text(node: LoopNode) -> str:
    span = (node.loop.end_ns - node.loop.begin_ns) / 1e6
    return f"{span:.0f}/{node.loop.count}/{_period(node):.0f}"
