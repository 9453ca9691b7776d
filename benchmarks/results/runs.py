"""R2, R3, R7 and R9: statistics of published periods, and programs that are traced here."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.representative.plan import estimates, plan, totals
from analyzer.structure.cut.choose import typical_stretch, window
from analyzer.structure.cut.cut import write_cut
from analyzer.structure.levels.metrics import off_by
from analyzer.structure.levels.parts import Structure
from analyzer.structure.levels.structure import DEFAULT_SIGNALS, Method, structure
from analyzer.structure.signals.signals import FLYING
from benchmarks.mpi import ROOT, WORK, Mpi, find, remove_run
from benchmarks.results.published import table
from benchmarks.results.rows import Part, Row, listed, percent

RANKS = 4
METRICS = ("bursts", "computing", "p2p", "ipc", "flying", "flops", "collective", "instructions")
FOUND = (26, 22, 20, 10, 20, 12, 4, 7)
"""Of 26 runs, as stated."""
LOOPS = {"stencil": 100, "hydrodynamics": 60, "sweeps": 30, "pipelined": 25, "transforms": 20, "particles": 75}
COUNTERS = tuple(f"sde:::Own::{name}" for name in ("alpha", "beta", "gamma"))
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


def traced() -> list[Traced]:
    """All programs, each traced once."""
    mpi = find()
    return [_analysed(mpi, *program) for program in _programs(mpi)]


def _programs(mpi: Mpi) -> Iterator[tuple[str, int, list[str]]]:
    heat = _built(mpi, ROOT / "examples" / "heat.c", "-lm")
    yield "heat solver", 300, [str(heat), "--size", "256", "--steps", "300"]
    loops = _built(mpi, ROOT / "mpi_tests" / "programs" / "structure" / "loops.c", "-lm")
    for name, count in LOOPS.items():
        yield name, count, [str(loops), name, str(count)]
    if shutil.which("lmp"):
        yield "LAMMPS", 100, ["lmp", "-in", str(ROOT / "mpi_tests" / "apps" / "inputs" / "lammps" / "in.lj")]


def _built(mpi: Mpi, source: Path, *flags: str) -> Path:
    WORK.mkdir(parents=True, exist_ok=True)
    program = WORK / source.stem
    subprocess.run([mpi.mpicc, "-O2", source, "-o", program, *flags], check=True)
    return program


def _analysed(mpi: Mpi, name: str, count: int, words: list[str]) -> Traced:
    called = f"results-{name.replace(' ', '-')}"
    mpi.run(RANKS, words[0], *words[1:], traced=called)
    path, team, small = WORK / f"{called}.h5", Team(), WORK / f"{called}-cut.h5"
    with closing(open_trace(path)) as trace:
        found = structure(trace, team, Method.BOTH, (*DEFAULT_SIGNALS, FLYING))
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


def periods_part(runs: list[Traced]) -> Part:
    """R2: how often each metric has a period, and how well they agree."""
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
                tuple(_periods(runs)),
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


def _periods(runs: list[Traced]) -> list[Row]:
    said, every = [], []
    for run in runs:
        main = run.found.main
        off = {one.name: off_by(one, main) for one in run.found.metrics}
        known = {name: by for name, by in off.items() if by is not None}
        every.append(known)
        agree = listed(f"{name} {percent(by)}" for name, by in known.items()) or "none has a period"
        text = f"{main.count} of {_ms(main.iterations.period_ns)}" if main and main.iterations else "none"
        said.append(Row(run.name, str(run.count), text, f"signals are off by: {agree}"))
    for name in (*DEFAULT_SIGNALS, FLYING):
        said.append(
            Row(f"runs in which {name} has a period", "", f"{sum(name in one for one in every)} of {len(runs)}")
        )
    off_all = [by for one in every for by in one.values()]
    said.append(
        Row(
            "deviation of signals, median",
            "at most 0.5 %",
            percent(float(np.median(off_all)), 2) if off_all else "none",
        )
    )
    return said


def _ms(ns: float) -> str:
    return f"{ns / 1e6:.3g} ms"


def sizes_part(runs: list[Traced]) -> Part:
    """R3: size of two iterations beside the whole."""
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
        for run in runs
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


def parallel_part(runs: list[Traced]) -> Part:
    """R7: initialisation, period and whole run."""
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
    said = []
    for run in runs:
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


def counters_part() -> Part:
    """R9: counters that are read in turn, each in an iteration of its own."""
    rows = table("parallel").set_index("run")
    stated = []
    for name, target in (("BT", 155), ("FT", 12), ("SP", 342), ("MG", 20)):
        one = rows.loc[f"{name} 16"]
        ratio = 3 * one.whole_ms / (one.initialisation_ms + 3 * one.period_ms)
        stated.append(Row(f"{name}: cost of 3 whole runs to that of the plan", str(target), f"{ratio:.0f}"))
    return Part(
        "R9: counters read in turn",
        (
            ("Recomputed from table 5.3.", tuple(stated)),
            (
                "A program with three counters of its own (software defined events of PAPI), read in turn by the "
                "runtime as analyze representative plans it, beside a run that counts all throughout.",
                tuple(_followed()),
            ),
        ),
    )


def _followed() -> Iterator[Row]:
    if not Path("/usr/include/sde_lib.h").exists():
        yield Row(
            "error of each counter", "15 % on average, 25 % at most", "not measured", "libpapi-dev is not installed"
        )
        return
    mpi, team = find(), Team()
    program = _built(mpi, ROOT / "mpi_tests" / "programs" / "regions" / "counted_steps.c", "-lsde")
    quiet = {"TRACELIB_CPUTIME": "off"}
    mpi.run(2, program, 50, traced="results-plain", options=quiet)
    with closing(open_trace(WORK / "results-plain.h5")) as trace:
        made = plan(trace, team, COUNTERS)
    schedule = WORK / "results.plan"
    schedule.write_text(made.schedule())
    turns = {"TRACELIB_COUNTERS": ";".join(COUNTERS), "TRACELIB_ROTATE": f"file:{schedule}"}
    mpi.run(2, program, 50, traced="results-planned", options=quiet | turns)
    mpi.run(2, program, 50, traced="results-full", options=quiet | {"TRACELIB_COUNTERS": ",".join(COUNTERS)})
    with closing(open_trace(WORK / "results-full.h5")) as trace:
        whole = totals(trace, team)
    with closing(open_trace(WORK / "results-planned.h5")) as trace:
        found = estimates(trace, team, whole)
    errors = pd.Series({one.counter.rpartition("::")[2]: one.error for one in found.counters})
    text = listed(f"{name} {percent(error, 2)}" for name, error in errors.items())
    yield Row("errors of the counters", "15 % on average, 25 % at most", text)
    yield Row("mean error", "about 15 %", percent(errors.mean(), 2))
    yield Row(
        "cost of 3 whole runs to that of the plan",
        "12 to 342",
        f"{found.cost_ratio:.1f}",
        f"{found.iterations} iterations",
    )
