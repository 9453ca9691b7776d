"""Compares the figures of two sides, each of one run or of several repetitions, and judges which differences are noise.

Also finds places again whose lines moved because the source changed above them: by file, function and order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from analyzer.differences.figures import ADDITIVE, PARTS, RUN_TIME, Figure, FigureFamily, FigureUnit, RunFigures
from analyzer.differences.noise import SampleOrigin
from analyzer.differences.rows import DifferenceRow, FigureSamples, judged, untested
from tracelib.schema.procedures import TESTS

_LINES = re.compile(r":(\d+)(?:-(\d+))?")
_OF_PLACES = (FigureFamily.PLACE, FigureFamily.COMPUTING)

Value = TypeVar("Value")


def align_moved_places(before: Sequence[RunFigures], after: Sequence[RunFigures]) -> tuple[list[RunFigures], int]:
    """Rename places of the second side whose lines moved to their names on the first side.

    Only places that one side alone has are considered. Places of the same call in the same function and file are paired
    in the order of their lines, if both sides have equally many.

    Returns:
        The runs of the second side with the new names, and the number of renamed places.
    """
    one, other = (_places(side) for side in (before, after))
    gone, new = _alike(one - other), _alike(other - one)
    names: dict[str, str] = {}
    for text, figures in new.items():
        if len(gone.get(text, ())) == len(figures):
            names |= {b.name: a.name for a, b in zip(gone[text], figures, strict=True)}
    return [_renamed(run, names) for run in after] if names else list(after), len(names)


def _places(side: Iterable[RunFigures]) -> set[Figure]:
    return {figure for run in side for figure in run.values if figure.family in _OF_PLACES}


def _alike(figures: Iterable[Figure]) -> dict[tuple[FigureFamily, str], list[Figure]]:
    """Group figures whose names differ only in line numbers, each group in order of lines.

    Names without lines are left out.
    """
    found: dict[tuple[FigureFamily, str], list[Figure]] = defaultdict(list)
    for figure in figures:
        text = _LINES.sub(":", figure.name)
        if text != figure.name:
            found[figure.family, text].append(figure)
    for group in found.values():
        group.sort(key=lambda figure: [int(line or 0) for pair in _LINES.findall(figure.name) for line in pair])
    return found


def _renamed(run: RunFigures, names: dict[str, str]) -> RunFigures:
    def of(figures: dict[Figure, Value]) -> dict[Figure, Value]:
        return {
            replace(figure, name=names.get(figure.name, figure.name)) if figure.family in _OF_PLACES else figure: value
            for figure, value in figures.items()
        }

    waiting = {names.get(name, name): ns for name, ns in run.waiting_at.items()}
    return replace(run, values=of(run.values), samples=of(run.samples), waiting_at=waiting)


LEAST_RUNS = 4
"""Smallest number of runs, of both sides together, for a t-test.

With fewer runs it has at most one degree of freedom.
"""
LEAST_SHARE = 0.005
"""Share of the run time.

A time below it on both sides is not tested: each further test makes the others less certain.
"""

_MAIN = frozenset({FigureFamily.PART, FigureFamily.EFFICIENCY, FigureFamily.ITERATION})
_POLLS = frozenset(f"{what} of {name}" for name in TESTS for what in ("calls", "bytes"))


@dataclass(frozen=True)
class RunDifference:
    """Comparison of two sides: one row for each figure.

    rows: by family; within a family, the largest difference first.
    basis: what the noise is estimated from.
    notes: what could not be compared, and why; each is one line.
    """

    before: tuple[RunFigures, ...]
    after: tuple[RunFigures, ...]
    rows: tuple[DifferenceRow, ...]
    basis: SampleOrigin
    notes: tuple[str, ...]

    def row(self, figure: Figure) -> DifferenceRow:
        """Return the row of a figure. If neither side has the figure, the row has no values."""
        return next((row for row in self.rows if row.figure == figure), DifferenceRow(figure, None, None))

    def family_rows(self, family: FigureFamily) -> list[DifferenceRow]:
        """Return the rows of one family, the largest difference first."""
        return [row for row in self.rows if row.figure.family is family]

    @property
    def run_time(self) -> DifferenceRow:
        """Row of the run time."""
        return self.row(RUN_TIME)


def compare(before: Sequence[RunFigures], after: Sequence[RunFigures]) -> RunDifference:
    """Compare two sides, each of at least one run.

    With at least LEAST_RUNS runs in all, the noise is estimated from repetitions. With fewer, only the first run of
    each side is compared. The noise is then estimated from iterations, if both runs have iterations that do the same.
    """
    basis, notes = _basis(before, after)
    if basis is not SampleOrigin.REPETITIONS:
        before, after = before[:1], after[:1]
    after, moved = align_moved_places(before, after)
    if moved:
        notes.append(f"Lines moved: {moved} places of B are compared with those of A in the same function, in order.")
    figures = dict.fromkeys(figure for run in (*before, *after) for figure in run.values)
    every = [DifferenceRow(figure, _mean(figure, before), _mean(figure, after)) for figure in figures]
    groups: list[list[DifferenceRow]] = [[], [], []]
    for row in every:
        groups[0 if row.figure == RUN_TIME else 1 if row.figure.family in _MAIN else 2].append(row)
    rows = [row for group in groups for row in _group(group, before, after, basis)]
    rows += _ranks(before, after, basis)
    family, part = list(FigureFamily), {figure: number for number, figure in enumerate(PARTS)}
    rows.sort(key=lambda row: (family.index(row.figure.family), part.get(row.figure, 0), -abs(row.difference)))
    return RunDifference(tuple(before), tuple(after), tuple(rows), basis, tuple(notes))


def _basis(before: Sequence[RunFigures], after: Sequence[RunFigures]) -> tuple[SampleOrigin, list[str]]:
    """Decide which samples show the noise. Also return notes on what cannot be compared."""
    every, one, other = [*before, *after], before[0], after[0]
    notes = list(dict.fromkeys(f"{run.file}: {note}." for run in every for note in run.notes))
    commands = dict.fromkeys(run.command for run in every if run.command)
    if len(commands) > 1:
        notes.append(f"The runs are of different commands: {'; '.join(commands)}.")
    if len(sizes := dict.fromkeys(run.ranks for run in every)) > 1:
        ranks = " and ".join(map(str, sizes))
        notes.append(f"Runs of {ranks} ranks are compared by the mean of a thread, not rank by rank.")
    if len(every) >= LEAST_RUNS:
        return SampleOrigin.REPETITIONS, notes
    if len(every) > 2:
        notes.append("Three runs are too few for a test of repetitions: the first of each side are compared.")
    if not (one.batches and other.batches):
        return SampleOrigin.NONE, notes
    if crowded := [run.file for run in (one, other) if run.shares_cpus]:
        notes.append(
            f"Ranks share CPUs in {' and '.join(dict.fromkeys(crowded))}: how long an iteration takes depends on who "
            "else has the CPU in this run, so noise is not known from them."
        )
        return SampleOrigin.NONE, notes
    if one.body != other.body:
        notes.append(f"Their iterations do not do the same ({one.body}; {other.body}): noise is not known from them.")
        return SampleOrigin.NONE, notes
    if one.iterations != other.iterations:
        notes.append(
            f"{other.iterations} iterations are compared with {one.iterations}: the tests are of one iteration."
        )
    return SampleOrigin.ITERATIONS, notes


def _mean(figure: Figure, side: Sequence[RunFigures]) -> float | None:
    """Return the mean of a figure over the runs of a side; None: a run lacks the figure."""
    values = [_value(run, figure) for run in side]
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _value(run: RunFigures, figure: Figure) -> float | None:
    return run.values.get(figure, 0.0 if figure.family in ADDITIVE else None)


def _group(
    rows: Sequence[DifferenceRow], before: Sequence[RunFigures], after: Sequence[RunFigures], basis: SampleOrigin
) -> Iterator[DifferenceRow]:
    """Judge the rows that are corrected together. Rows without samples are included."""
    least = LEAST_SHARE * max(run.values[RUN_TIME] for run in (*before, *after))
    tested, columns = [], []
    for row in rows:
        sides, is_count = _samples(row.figure, before, after, basis), row.figure.family is FigureFamily.TRAFFIC
        is_small = row.figure.unit is FigureUnit.NS and max(row.before or 0.0, row.after or 0.0) < least
        if sides is None or is_small or (is_count and not any(np.ptp(side) for side in sides)):
            yield untested(row, exact=is_count and row.figure.name not in _POLLS)
            continue
        tested.append(row)
        columns.append(sides)
    if tested:
        one, other = (np.stack([sides[k] for sides in columns], axis=1) for k in range(2))
        yield from judged(tested, FigureSamples(one, other, basis, (before[0].iterations, after[0].iterations)))


def _samples(
    figure: Figure, before: Sequence[RunFigures], after: Sequence[RunFigures], basis: SampleOrigin
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the samples of a figure for each side, float64 (samples,). None: not both sides have samples."""
    if basis is SampleOrigin.REPETITIONS:
        values = [[_value(run, figure) for run in side] for side in (before, after)]
        return None if any(None in side for side in values) else (np.array(values[0]), np.array(values[1]))
    one, other = before[0], after[0]
    sides = [run.samples.get(figure) for run in (one, other)]
    if basis is SampleOrigin.NONE or all(side is None for side in sides):
        return None
    if figure.family not in ADDITIVE and any(side is None for side in sides):
        return None
    first, second = (
        np.zeros(run.batches) if side is None else side for run, side in zip((one, other), sides, strict=True)
    )
    return first, second


def _ranks(before: Sequence[RunFigures], after: Sequence[RunFigures], basis: SampleOrigin) -> list[DifferenceRow]:
    """Compare the computing time of each rank. Empty if the numbers of ranks differ."""
    if len({run.ranks for run in (*before, *after)}) > 1:
        return []
    first, second = (np.stack([run.by_rank for run in side]) for side in (before, after))
    means = zip(first.mean(axis=0).tolist(), second.mean(axis=0).tolist(), strict=True)
    rows = [DifferenceRow(Figure(FigureFamily.RANK, f"rank {rank}"), a, b) for rank, (a, b) in enumerate(means)]
    iterations = 1, 1
    if basis is SampleOrigin.ITERATIONS:
        one, other = before[0].rank_samples, after[0].rank_samples
        assert one is not None and other is not None, "the basis is that of their batches"
        first, second, iterations = one, other, (before[0].iterations, after[0].iterations)
    if basis is SampleOrigin.NONE:
        return [untested(row, exact=False) for row in rows]
    return judged(rows, FigureSamples(first, second, basis, iterations))
