"""`make bench`: measures, prints the table, and writes it to docs/performance.md and docs/performance.json.

With PARTS="stacks sampling" it measures these alone; the other rows stay as they are.
"""

from __future__ import annotations

import json
import os
import platform
import sys
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
    """Write a line of the table."""
    budget = "" if figure.budget is None else f"{figure.budget:g}"
    return f"| {figure.name} | {figure.value:.3g} | {budget} | {figure.unit} | {figure.note} |"


def table(machines: dict[str, str], figures: list[Figure]) -> str:
    """Write the part of the page between the marks. machines: by the parts that were measured there."""
    parts_of: dict[str, list[str]] = {}
    for part, machine in machines.items():
        parts_of.setdefault(machine, []).append(part)
    said = "; ".join(f"{', '.join(parts)}: {machine}" for machine, parts in parts_of.items())
    head = ["| | measured | budget | unit | |", "|---|---|---|---|---|"]
    return "\n".join([BEGIN, said, "", *head, *map(row, figures), END])


PARTS = {
    part.__name__.rpartition(".")[2]: part
    for part in (
        recording, options, stacks, sampling, analysis, signals, packing, replay, scaling, team, shared, network,
        prediction,
    )
}  # fmt: skip


def measured(names: list[str]) -> Iterator[Figure]:
    """Yield the figures of these parts, each shown as soon as it is there."""
    mpi = find()
    for part in map(PARTS.__getitem__, names):
        for figure in part.figures(mpi):
            print(row(figure), flush=True)
            yield figure


def merged(old: list[Figure], new: list[Figure]) -> list[Figure]:
    """Return the old figures with the new ones in their places, those that were not there at the end."""
    by_name = {figure.name: figure for figure in new}
    kept = [by_name.pop(figure.name, figure) for figure in old]
    return [*kept, *by_name.values()]


def main(names: list[str]) -> None:
    if strange := set(names) - set(PARTS):
        raise SystemExit(f"no such parts: {', '.join(sorted(strange))} (there are {', '.join(PARTS)})")
    version = find().version.replace("(OpenRTE)", "Open MPI")
    machine = f"{processor()}, {os.cpu_count()} cores, Linux {platform.release()}, {version}, {date.today()}"
    print(machine)
    figures, machines = list(measured(names or list(PARTS))), dict.fromkeys(names or PARTS, machine)
    if names:
        known = json.loads(PAGE.with_suffix(".json").read_text())
        figures = merged([Figure(**figure) for figure in known["figures"]], figures)
        machines = known["machines"] | machines
    text = PAGE.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(before + table(machines, figures) + after)
    document = {"machines": machines, "figures": [asdict(figure) for figure in figures]}
    PAGE.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
    print(f"written to {PAGE.relative_to(ROOT)} and {PAGE.with_suffix('.json').relative_to(ROOT)}")


main(sys.argv[1:])
