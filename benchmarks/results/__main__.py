"""Runs the parts that are named (all of them without names) and puts each into its place in docs/results.md."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.mpi import ROOT
from benchmarks.results import cost, counters, intervals, regions, runs, sampling, scaling
from benchmarks.results.rows import Part

PAGE = ROOT / "docs" / "results.md"

traced = cache(runs.traced)

PARTS: dict[str, Callable[[Path], Part]] = {
    "R1": regions.part,
    "R2": lambda _: runs.periods_part(traced()),
    "R3": lambda _: runs.sizes_part(traced()),
    "R4": cost.part,
    "R5": lambda _: sampling.part(),
    "R6": lambda _: sampling.length_part(),
    "R7": lambda _: runs.parallel_part(traced()),
    "R8": lambda _: intervals.part(),
    "R9": lambda _: counters.part(),
    "R10": scaling.part,
    "R11": scaling.prediction_part,
}


def put(name: str, part: Part) -> None:
    """Put a part into the page, between its marks."""
    begin, end = f"<!-- {name} -->\n", f"\n<!-- end {name} -->"
    text = PAGE.read_text()
    before, _, rest = text.partition(begin)
    PAGE.write_text(before + begin + part.text + end + rest.partition(end)[2])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="R1, R2, ... [all]")
    for name in parser.parse_args().parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="results-") as folder:
            part = PARTS[name](Path(folder))
        print(part.text, flush=True)
        put(name, part)
    print(f"written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
