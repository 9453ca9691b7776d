"""`make bench`: measures, prints the table, and writes it to docs/performance.md and docs/performance.json."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date

from benchmarks import (
    analysis,
    network,
    options,
    packing,
    prediction,
    recording,
    replay,
    sampling,
    scaling,
    shared,
    signals,
    stacks,
    team,
)
from benchmarks.mpi import ROOT, find, processor
from benchmarks.recording import Figure

PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- make bench -->", "<!-- end -->"


def row(figure: Figure) -> str:
    """A line of the table."""
    budget = "" if figure.budget is None else f"{figure.budget:g}"
    return f"| {figure.name} | {figure.value:.3g} | {budget} | {figure.unit} | {figure.note} |"


def table(machine: str, figures: list[Figure]) -> str:
    """The part of the page between the marks."""
    head = ["| | measured | budget | unit | |", "|---|---|---|---|---|"]
    return "\n".join([BEGIN, machine, "", *head, *map(row, figures), END])


def measured() -> Iterator[Figure]:
    """All figures, each shown as soon as it is there."""
    mpi = find()
    of_runtime = (recording, options, stacks, sampling)
    parts = (*of_runtime, analysis, signals, packing, replay, scaling, team, shared, network, prediction)
    for part in parts:
        for figure in part.figures(mpi):
            print(row(figure), flush=True)
            yield figure


def main() -> None:
    machine = f"{processor()}, {os.cpu_count()} cores, Linux {platform.release()}, {find().version}, {date.today()}"
    print(machine)
    figures = list(measured())
    text = PAGE.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(before + table(machine, figures) + after)
    document = {"machine": machine, "figures": [asdict(figure) for figure in figures]}
    PAGE.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
    print(f"written to {PAGE.relative_to(ROOT)} and {PAGE.with_suffix('.json').relative_to(ROOT)}")


main()
