"""The two matrix products: cache misses counted by cachegrind, and how they make the time (Rodriguez 2011, section
5.3).

Phi(n, p) is fitted to the misses of the inner loops, T(n, p, phi) to their CPU time, with the misses as they were
counted; the prediction has Phi in place of phi. The cache is as large as the largest matrix, as in the thesis.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas

import analyzer
from analyzer.models.composed_models import ComposedModel
from benchmarks.mpi import ENVIRONMENT, ROOT, WORK, Mpi
from benchmarks.studies.runs import table, traced
from benchmarks.studies.shown import Row

SIZES, RANKS, REPEATED = (144, 168, 192, 216, 240), (1, 2, 3, 4), 40
HELD_OUT = 3  # ranks that no fit sees
CACHE = "262144,8,64"
FUNCTION = "product_row"
MISSES = "{n/ranks},{n^2,n}"
"""Tab. 5.10."""
TIME = "{n^3/ranks,n^2/ranks,phi}*"
"""Terms of Tab. 5.11 that do not describe the network."""


def rows(mpi: Mpi) -> Iterator[Row]:
    """Yield for both versions misses, then the time with the misses that the model predicts (two stages)."""
    program = _program(mpi)
    for version in "AB":
        frame = _measured(mpi, program, version)
        fitted, held = frame[frame["ranks"] != HELD_OUT], frame[frame["ranks"] == HELD_OUT]
        phi = analyzer.fit(fitted, "phi", ["n", "ranks"], MISSES)
        yield Row(f"product {version}", "misses", f"{HELD_OUT} ranks", phi, fitted, held, "phi")
        both = ComposedModel(analyzer.fit(fitted, "time", ["n", "ranks", "phi"], TIME), {"phi": phi})
        predicted = held.assign(phi=[both.quantity("phi", **at) for at in held[["n", "ranks"]].to_dict("records")])
        yield Row(
            f"product {version}", "CPU time", f"{HELD_OUT} ranks", both.outer, fitted, predicted, "time",
            _share(both, frame),
        )  # fmt: skip


def _share(both: ComposedModel, frame: pandas.DataFrame) -> str:
    """Say the part of the time that misses make, over all settings (section 5.3.1)."""
    if "phi" not in both.outer.terms:
        return "misses make no difference"
    shares = [both.share("phi", **at) for at in frame[["n", "ranks"]].to_dict("records")]
    cost = both.outer.selected.coefficients[both.outer.terms.index("phi")] * 1e9
    return f"{cost:.3g} ns a miss, {100 * min(shares):.1f} to {100 * max(shares):.1f} % of the time"


def _program(mpi: Mpi) -> Path:
    """Translate and compile examples/products.c."""
    WORK.mkdir(parents=True, exist_ok=True)
    source, include = WORK / "products.c", ROOT / "tracelib" / "include"
    words = ["call", str(ROOT / "examples" / "products.c"), "-o", str(source), "-q"]
    subprocess.run([sys.executable, "-m", "tracelib", *words], check=True)
    subprocess.run([mpi.mpicc, "-O2", "-I", include, source, "-o", WORK / "products"], check=True)
    return WORK / "products"


def _measured(mpi: Mpi, program: Path, version: str) -> pandas.DataFrame:
    """Measure a row for each size and number of ranks: CPU time of all rows of the product, misses.

    The time is in s, least of the repetitions, mean of the ranks.
    """
    runs = [traced(mpi, f"product-{version}-{p}-{n}", p, program, version, n, REPEATED) for n in SIZES for p in RANKS]
    rows_of = table(runs, "--where", "region == 'rows'")
    rows_of["repetition"] = (rows_of["execution"] - 1) * rows_of["ranks"] // rows_of["n"]
    summed = rows_of.groupby(["n", "ranks", "rank", "repetition"])["CPU_NS"].sum()
    least = summed.groupby(["n", "ranks", "rank"]).min().groupby(["n", "ranks"]).mean()
    frame = least.div(1e9).rename("time").reset_index()
    frame["phi"] = [
        _misses(mpi, program, version, int(p), int(n)) for n, p in zip(frame["n"], frame["ranks"], strict=True)
    ]
    return frame


def _misses(mpi: Mpi, program: Path, version: str, ranks: int, n: int) -> float:
    """Count misses of the last cache in the inner loops, mean of the ranks."""
    for path in WORK.glob("cachegrind.*"):
        path.unlink()
    valgrind = ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", f"--LL={CACHE}"]
    words = [*valgrind, f"--cachegrind-out-file={WORK}/cachegrind.%p", str(program), version, str(n)]
    command = ["timeout", "600", mpi.mpirun, "--bind-to", "none", "-n", str(ranks), *words]
    subprocess.run(command, env=os.environ | ENVIRONMENT, check=True, capture_output=True)
    counts = [of_function(path.read_text(), FUNCTION) for path in WORK.glob("cachegrind.*")]
    assert len(counts) == ranks
    return float(np.mean(counts))


def of_function(text: str, name: str) -> int:
    """Return a function's misses of the last level in a file of cachegrind: instructions, data read and written."""
    wanted: list[int] = []
    total, inside = 0, False
    for line in text.splitlines():
        if line.startswith("events:"):
            wanted = [k for k, event in enumerate(line.split()[1:], start=1) if event in ("ILmr", "DLmr", "DLmw")]
        elif line.startswith("fn="):
            inside = line[3:].split(".")[0] == name  # compilers add .part.0, .constprop.0
        elif inside and line[:1].isdigit():
            numbers = line.split()
            total += sum(int(numbers[k]) for k in wanted)
    return total
