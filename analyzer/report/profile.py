"""Parallelism of a run over time, as text, for JSON, and as CSV."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyzer.atomic_file import whole_file
from analyzer.metrics.parallelism import COLLECTIVES, COMPUTING, LOW, MESSAGES, QUEUE, Parallelism, ParallelismDip
from analyzer.report.words import units
from analyzer.report.words.left_out import incomplete_line
from analyzer.report.words.replays import basis_phrase, basis_text
from analyzer.report.words.table import plain_table

_ROWS = 65536
"""Number of rows of a CSV file that are formatted at a time."""
_WHERE = {MESSAGES: "messages", COLLECTIVES: "collectives", "": "neither messages nor collectives"}


@dataclass(frozen=True)
class ProfileReport:
    """The parallelism over time of one run, as measured or replayed.

    Attributes:
        cpu_time: In a replay, bursts are CPU time (True), wall-clock time (False), or as in a Dimemas trace (None).
        lacking: Parts of the run that are missing, in one line.
    """

    file: str
    found: Parallelism
    replayed: bool  # False: as measured
    cpu_time: bool | None = False  # see Attributes
    lacking: str = ""  # parts of the run that are missing, in one line


def print_profile(profiled: ProfileReport, console: Console) -> None:
    """Print how many threads compute on average, and the times in which few compute."""
    found = profiled.found
    computing = found.series[COMPUTING]
    kind = f"predicted {basis_phrase(cpu_time=profiled.cpu_time)}" if profiled.replayed else "as measured"
    console.print(f"{Path(profiled.file).name}: {units.time(found.end_ns)} {kind}", markup=False)
    console.print(
        f"On average {found.mean():.2f} of {units.plural(found.threads, 'thread')} "
        f"{units.verb(found.threads, 'computes', 'compute')} "
        f"({units.percent(found.utilisation)}); in intervals of {units.time(found.width_ns)} the mean is "
        f"{computing.min():.2f} to {computing.max():.2f}"
    )
    if (waiting := found.series.get(QUEUE)) is not None and waiting.any():
        most = f"{waiting.max():.3g} in an interval"
        console.print(f"Messages that wait for links and buses: {found.mean(QUEUE):.3g} on average, at most {most}")
    if found.places:
        console.print()
        console.print(_places_table(found))
    console.print()
    dips = found.dips()
    if dips:
        console.print(_table(dips))
        console.print()
    console.print(_verdict(found, dips))
    if profiled.lacking:
        console.print(incomplete_line(profiled.lacking, "profile"), markup=False)


def _table(dips: list[ParallelismDip]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for name in ("from", "lasts", "compute"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("others are in")
    for dip in dips:
        length = units.time(dip.end_ns - dip.begin_ns)
        where = f"{_WHERE[dip.mostly]}, most at {dip.place}" if dip.place else _WHERE[dip.mostly]
        table.add_row(units.time(dip.begin_ns), length, f"{dip.computing:.2f}", Text(where))
    return table


def _places_table(found: Parallelism) -> Table:
    """Make a table of the number of threads in calls of each place: mean, and the interval with most."""
    table = plain_table("Threads in calls at", "mean", "most", "from")
    for place in found.places:
        series = found.series[place]
        most = int(series.argmax())
        begin = units.time(int(found.edges[most]))
        table.add_row(Text(place), f"{found.mean(place):.2f}", f"{series[most]:.2f}", begin)
    return table


def _verdict(found: Parallelism, dips: list[ParallelismDip]) -> str:
    """Say in one or two sentences what the dips mean."""
    if not found.mean():
        return "No thread computes."
    if not dips:
        return f"There is no interval in which fewer than {units.percent(LOW)} of this average compute."
    worst = max(dips, key=lambda dip: dip.lost_ns)
    lost = sum(dip.lost_ns for dip in dips) / (found.mean() * found.end_ns)
    many = "this interval" if len(dips) == 1 else f"these {len(dips)} intervals"
    reason = {
        COLLECTIVES: "ranks wait for each other in collectives (analyze waits shows for whom)",
        MESSAGES: "ranks wait for messages (analyze critical-path shows the pattern)",
        "": "ranks neither communicate nor compute: start, end, or I/O",
    }[worst.mostly]
    return (
        f"In {many} fewer than {units.percent(LOW)} of the average number of threads compute. With the average number, "
        f"{units.percent(lost)} of all computation would be done there in addition. Most is lost in the interval from "
        f"{units.time(worst.begin_ns)} on, where {reason}."
    )


def profile_json(profiled: ProfileReport) -> dict[str, Any]:
    """Return all series for JSON. Times are in s, values are numbers of threads."""
    found = profiled.found
    return {
        "file": profiled.file,
        "replayed": profiled.replayed,
        "replayed_by": basis_text(cpu_time=profiled.cpu_time) if profiled.replayed else None,
        "end_s": found.end_ns / 1e9,
        "bin_s": found.width_ns / 1e9,
        "threads": found.threads,
        "mean": {name: found.mean(name) for name in found.series},
        "utilisation": found.utilisation,
        "dips": [
            {
                "begin_s": dip.begin_ns / 1e9, "end_s": dip.end_ns / 1e9, "computing": dip.computing,
                "mostly": dip.mostly or None, "place": dip.place or None, "lost_s": dip.lost_ns / 1e9,
            }
            for dip in found.dips()
        ],
        "places": list(found.places),
        "series": {name: values.tolist() for name, values in found.series.items()},
        "incomplete": profiled.lacking,
    }  # fmt: skip


def write_series(found: Parallelism, path: Path) -> None:
    """Write a CSV file: begin and end of each bin in ns, and the mean of each series in it.

    Raises:
        TracelibError: The file cannot be written.
    """
    names, edges = list(found.series), found.edges
    rows = np.column_stack([edges[:-1], edges[1:], *found.series.values()])
    line = "%d,%d" + ",%.6g" * len(names) + "\n"
    with whole_file(path) as file:
        columns = ",".join(name.replace(",", ";") for name in names)
        file.write(f"begin_ns,end_ns,{columns}\n".encode())
        for first in range(0, len(rows), _ROWS):
            part = rows[first : first + _ROWS]
            file.write(((line * len(part)) % tuple(part.ravel().tolist())).encode())
