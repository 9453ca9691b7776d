"""R9: counters that are read in turn, by the runtime, beside a run that counts all throughout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pandas as pd

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.representative.plan import estimates, plan, totals
from benchmarks.mpi import ROOT, WORK, find
from benchmarks.results.published import table
from benchmarks.results.rows import Part, Row, listed, percent
from benchmarks.results.runs import built

COUNTERS = tuple(f"sde:::Own::{name}" for name in ("alpha", "beta", "gamma"))


def part() -> Part:
    """Compute R9: counters that are read in turn, each in an iteration of its own."""
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
    program = built(mpi, ROOT / "mpi_tests" / "programs" / "regions" / "counted_steps.c", "-lsde")
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
