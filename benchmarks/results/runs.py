"""R2, R3 and R7: statistics of published periods, and programs that are traced here."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.cut.chosen_iterations import typical_stretch, window
from analyzer.structure.cut.cut_run import write_cut
from analyzer.structure.levels.parts import Structure, off_by
from analyzer.structure.levels.run_structure import DEFAULT_SIGNALS, IterationMethod, structure
from analyzer.structure.signals.run_signals import FLYING
from benchmarks.mpi import ROOT, WORK, Mpi, find, remove_run
from benchmarks.results.published import table
from benchmarks.results.rows import Part, Row, listed, percent

RANKS = min(4, os.cpu_count() or 1)
"""More ranks than processors share them, and then each iteration takes another time."""
BUSY = 0.3
"""From this load for each processor on, before programs run, their times are not said."""
METRICS = ("bursts", "computing", "p2p", "ipc", "flying", "flops", "collective", "instructions")
FOUND = (26, 22, 20, 10, 20, 12, 4, 7)
"""Results of the 26 runs, as stated."""
LOOPS = {
    "stencil": (100, 100), "hydrodynamics": (60, 60), "sweeps": (30, 30), "pipelined": (25, 50), "transforms": (20, 20),
    "particles": (75, 100),
}  # fmt: skip
"""Iterations, and how many times as long as usual each computes: for iterations of several ms."""
NO_COUNTERS = "needs counters of the processor, which this machine may not have"


@dataclass(frozen=True)
class Traced:
    """A program that was traced here; `count`: iterations, from its input."""

    name: str
    count: int
    path: Path
    found: Structure
    cut_bytes: int | None  # of two iterations

    @property
    def bytes(self) -> int:
        return _size(self.path)


@dataclass(frozen=True)
class Campaign:
    """All programs, each traced once; `load`: processes that ran before, for each processor."""

    runs: tuple[Traced, ...]
    load: float

    @property
    def busy(self) -> str:
        """Why times are not said, or nothing. Beside other work each iteration takes another time, and signals have no
        period: that says something of the machine only."""
        said = f"not said: {self.load:.1f} other processes ran on each processor"
        return said if self.load >= BUSY else ""


def traced() -> Campaign:
    """Trace all programs."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    mpi = find()
    return Campaign(tuple(_analysed(mpi, *program) for program in _programs(mpi)), load)


def _programs(mpi: Mpi) -> Iterator[tuple[str, int, list[str]]]:
    heat = built(mpi, ROOT / "examples" / "heat.c", "-lm")
    yield "heat solver", 300, [str(heat), "--size", "1536", "--steps", "300"]
    loops = built(mpi, ROOT / "mpi_tests" / "programs" / "structure" / "loops.c", "-lm")
    for name, (count, times) in LOOPS.items():
        yield name, count, [str(loops), name, str(count), str(times)]
    if shutil.which("lmp"):
        yield "LAMMPS", 100, ["lmp", "-in", str(ROOT / "mpi_tests" / "apps" / "inputs" / "lammps" / "in.lj")]


def built(mpi: Mpi, source: Path, *flags: str) -> Path:
    """Build a program of one source."""
    WORK.mkdir(parents=True, exist_ok=True)
    program = WORK / source.stem
    subprocess.run([mpi.mpicc, "-O2", source, "-o", program, *flags], check=True)
    return program


def _analysed(mpi: Mpi, name: str, count: int, words: list[str]) -> Traced:
    called = f"results-{name.replace(' ', '-')}"
    mpi.run(RANKS, words[0], *words[1:], traced=called)
    path, team, small = WORK / f"{called}.h5", Team(), WORK / f"{called}-cut.h5"
    with closing(open_trace(path)) as trace:
        found = structure(trace, team, IterationMethod.BOTH, (*DEFAULT_SIGNALS, FLYING))
        cut_bytes = None
        if found.main and found.main.iterations:
            remove_run(small.stem)
            first = typical_stretch(trace, team, found.main.iterations, 2).first
            write_cut(trace, team, window(found.main.iterations, first, 2), small)
            cut_bytes = _size(small)
    return Traced(name, count, path, found, cut_bytes)


def _size(run: Path) -> int:
    folder = run.with_suffix(".ranks")
    return run.stat().st_size + sum(path.stat().st_size for path in folder.glob("*") if path.is_file())


def periods_part(campaign: Campaign) -> Part:
    """Compute R2: how often each metric has a period, and how well they agree."""
    published = table("periods")
    stated = [
        Row(f"periods found by {name}", f"{count} of 26", f"{published[name].notna().sum()} of {len(published)}")
        for name, count in zip(METRICS, FOUND, strict=True)
    ]
    off = published[list(METRICS[1:])].div(published.bursts, axis=0).sub(1).abs()
    outliers = off.max(axis=1) > 0.009
    labels = published.application + "-" + published.ranks.astype(str)
    named = [f"{label} {percent(by)}" for label, by in zip(labels, off.max(axis=1), strict=True) if by > 0.009]
    stated.append(Row("deviation from the period of bursts, median", "at most 0.5 %", percent(np.nanmedian(off), 2)))
    stated.append(
        Row("... runs with more than 0.9 %", "LU-32, ALYA, SPECFEM3D, LU-64", str(int(outliers.sum())), listed(named))
    )
    for name, rows in published.groupby("application", sort=False):
        if len(rows) > 1:
            speedups = rows.bursts.iloc[0] / rows.bursts.iloc[1:]
            linear = rows.ranks.iloc[1:] / rows.ranks.iloc[0]
            text = listed(f"{s:.4g} ({k:.4g})" for s, k in zip(speedups, linear, strict=True))
            stated.append(Row(f"{name}: speedups from the periods (linear)", SPEEDUPS[str(name)], text))
    return Part(
        "R2: period by metric",
        (
            ("Recomputed from tables 3.6 and 3.7.", tuple(stated)),
            (
                f"Programs traced here on {RANKS} ranks; the target is the count of their input. IPC, FLOPS and "
                f"instructions are left out: that {NO_COUNTERS}.",
                tuple(_periods(campaign)),
            ),
        ),
    )


SPEEDUPS = {
    "BT": "1.998 (2.25), 3.577 (4), 6.482 (7.562), 11.1 (16)",
    "CG": "1.696 (2), 2.294 (4), 3.545 (8)",
    "LU": "2.719 (2), 6.348 (4)",
    "MG": "1.81 (2), 4.777 (4)",
    "SP": "1.595 (2.25), 4.064 (4)",
    "WRF": "1.839 (2), 2.77 (4)",
}
"""Linear ones in brackets."""


def _periods(campaign: Campaign) -> list[Row]:
    if campaign.busy:
        return [*_counts(campaign.runs), Row("periods, and those of signals", "", campaign.busy)]
    every = [_off(run) for run in campaign.runs]
    said = []
    for run, row, off in zip(campaign.runs, _counts(campaign.runs), every, strict=True):
        agree = listed(f"{name} {percent(by)}" for name, by in off.items()) or "none has a period"
        main = run.found.main
        period = f" of {_ms(main.iterations.period_ns)}" if main and main.iterations else ""
        said.append(replace(row, found=row.found + period, note=f"signals are off by: {agree}"))
    for name in (*DEFAULT_SIGNALS, FLYING):
        said.append(
            Row(f"runs in which {name} has a period", "", f"{sum(name in off for off in every)} of {len(every)}")
        )
    off_all = [by for off in every for by in off.values()]
    median = percent(float(np.median(off_all)), 2) if off_all else "none"
    return [*said, Row("deviation of signals, median", "at most 0.5 %", median)]


def _counts(runs: tuple[Traced, ...]) -> list[Row]:
    return [Row(run.name, str(run.count), str(run.found.main.count if run.found.main else "none")) for run in runs]


def _off(run: Traced) -> dict[str, float]:
    """Return by how much the period of each signal that has one is off."""
    off = {one.name: off_by(one, run.found.main) for one in run.found.metrics}
    return {name: by for name, by in off.items() if by is not None}


def _ms(ns: float) -> str:
    return f"{ns / 1e6:.3g} ms"


def sizes_part(campaign: Campaign) -> Part:
    """Compute R3: size of two iterations beside the whole."""
    stated = [
        Row("Liso, Idris, Gadget, Linpack: whole / level 1", "31.6, 10.8, 51, 146",
            listed(round(whole / small, 1) for whole, small in ((2020, 64), (2700, 250), (2700, 53), (6700, 46)))),
        Row("Liso, Idris: whole / level 2", "337, 108", listed(round(k) for k in (2020 / 6, 2700 / 25))),
    ]  # fmt: skip
    said = [
        Row(
            run.name,
            "",
            f"{run.bytes / run.cut_bytes:.1f}",
            f"{_kb(run.bytes)} to {_kb(run.cut_bytes)}; {run.count} iterations",
        )
        for run in campaign.runs
        if run.cut_bytes
    ]
    return Part(
        "R3: size of representative parts",
        (
            ("From the sizes of table 3.8.", tuple(stated)),
            (
                "Two iterations of the programs of R2, as analyze cut writes them.",
                tuple(said),
            ),
        ),
    )


def _kb(size: int) -> str:
    return f"{size / 1000:.0f} KB"


def parallel_part(campaign: Campaign) -> Part:
    """Compute R7: initialisation, period and whole run."""
    rows = table("parallel")
    cpi = (rows.cpi - rows.cpi_whole).abs() / rows.cpi_whole
    l1 = (rows.l1 - rows.l1_whole).abs() / rows.l1_whole
    factors = rows.whole_ms / rows.period_ms
    stated = [
        Row("mean error of CPI, 12", "5.43 %", f"{rows.cpi_error.mean():.2f} %", f"columns: {percent(cpi.mean())}"),
        Row("mean error of L1, 8 runs", "13.1 %", f"{rows.l1_error.mean():.1f} %", f"columns: {percent(l1.mean())}"),
        Row("BT 16: error of L1", "0.21 % (1.07 %)", percent(l1[0], 2), "misprint"),
        Row("SP 64: error of CPI", "3.49 % (2.84 %)", percent(cpi[11], 2), "misprint"),
        Row("whole / period, least and most", "23, 4056", listed(round(k) for k in (factors.min(), factors.max()))),
    ]  # fmt: skip
    said = [Row("initialisation, period, whole of each", "", campaign.busy)] if campaign.busy else []
    for run in () if campaign.busy else campaign.runs:
        main = run.found.main
        if main and main.iterations:
            times = (main.begin_ns, main.iterations.period_ns, run.found.duration_ns)
            text = f"{listed(map(_ms, times))}; {times[2] / times[1]:.0f} periods"
            said.append(Row(f"{run.name}: initialisation, period, whole", "", text))
    return Part(
        "R7: representative parts of parallel programs",
        (
            ("Recomputed from table 5.3.", tuple(stated)),
            (f"The programs of R2. CPI and misses: {NO_COUNTERS}.", tuple(said)),
        ),
    )
