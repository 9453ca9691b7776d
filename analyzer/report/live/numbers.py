"""The numbers of a live view, as printed tables and for JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from analyzer.live.interval_numbers import DrawnNumbers, IntervalNumbers
from analyzer.live.rows import RowGrouping
from analyzer.report.views.tables import number, plain
from analyzer.report.words import units
from analyzer.report.words.table import plain_table, print_beside
from analyzer.timeline import NAMES

MOST_ROWS = 40
_KEYS = ("computing_s", "waiting_s", "rest_of_mpi_s", "tracer_s")


def numbers_json(of: IntervalNumbers, names: bool = True) -> dict[str, Any]:
    """Return the numbers for JSON. Times are in s, summed over the threads of a row.

    `names`: whether rows have their names.
    """
    found = of.found
    return {
        "begin_s": of.view.begin_ns / 1e9,
        "end_s": of.view.end_ns / 1e9,
        "threads": int(of.rows.threads.sum()),
        **{key: int(row.sum()) / 1e9 for key, row in zip(_KEYS, of.ns, strict=True)},
        "messages": of.messages,
        "message_bytes": of.message_bytes,
        "found": None if found is None else {
            "calls": int(found.count.sum()), "mpi_s": int(found.inside_ns.sum()) / 1e9,
            "bytes": int(found.size_bytes.sum()),
        },
        "rows": [
            {
                **({"name": of.rows.names[row]} if names else {}),
                "threads": int(of.rows.threads[row]),
                **{key: int(ns[row]) / 1e9 for key, ns in zip(_KEYS, of.ns, strict=True)},
                **({"found": int(found.count[row])} if found is not None else {}),
            }
            for row in range(len(of.rows))
        ],
    }  # fmt: skip


def print_numbers(of: IntervalNumbers, console: Console) -> None:
    """Print the activities of the rows in the window, in sum and row by row, and the calls that a search finds."""
    view, whole = of.view, int(of.whole_ns.sum())
    threads = units.plural(int(of.rows.threads.sum()), "thread")
    long = units.time(view.end_ns - view.begin_ns)
    console.print(Text(f"{view.begin_ns / 1e9:.9f} s to {view.end_ns / 1e9:.9f} s: {long} of {threads}", style="bold"))
    table = plain_table("", "time", "share")
    for name, row in zip(NAMES, of.ns, strict=True):
        table.add_row(name, units.time(int(row.sum())), units.percent(int(row.sum()) / whole) if whole else "-")
    console.print(table)
    console.print(f"Messages sent: {units.count(of.messages)}, {units.size(of.message_bytes)}, of all ranks")
    if of.found is not None:
        calls, inside = units.plural(int(of.found.count.sum()), "call"), units.time(int(of.found.inside_ns.sum()))
        console.print(f"Found: {calls}, {inside} in MPI, {units.size(int(of.found.size_bytes.sum()))}")
    console.print()
    _print_rows(of, console)


def _print_rows(of: IntervalNumbers, console: Console) -> None:
    heads = ("found",) if of.found is not None else ()
    table = plain_table(
        {RowGrouping.RANKS: "rank", RowGrouping.THREADS: "thread", RowGrouping.GROUPS: "ranks"}[of.view.by],
        *NAMES,
        *heads,
    )
    for row, name in enumerate(of.rows.names[:MOST_ROWS]):
        found = [units.count(int(of.found.count[row]))] if of.found is not None else []
        table.add_row(name, *(units.time(int(ns[row])) for ns in of.ns), *found)
    console.print(table)
    if len(of.rows) > MOST_ROWS:
        console.print(f"The first {MOST_ROWS} of {len(of.rows)} rows; --json lists all")


def drawn_json(every: list[DrawnNumbers]) -> list[dict[str, Any]]:
    """Return the values of the drawn views for JSON.

    A view of numbers has mean and extremes of each row, a view of names the time in s of each name.
    """
    return [
        {
            "name": one.name, "unit": one.unit, "level": one.level, "rows": one.rows,
            **(
                {"seconds": dict(zip(one.colours, plain(one.measured.seconds.T), strict=True))}
                if one.colours is not None else
                {name: plain(getattr(one.measured, name)) for name in ("mean", "least", "most")}
            ),
        }
        for one in every
    ]  # fmt: skip


def print_drawn(of: DrawnNumbers, console: Console) -> None:
    """Print a table of the values of a drawn view, row by row."""
    console.print()
    console.print(Text(f"{of.name}{f' ({of.unit})' if of.unit else ''}", style="bold"))
    shown = range(min(len(of.rows), MOST_ROWS))
    if of.colours == ():
        console.print("0 all the time: none of its names comes")
        return
    if of.colours is not None:
        columns = [
            (name, [units.time(round(s * 1e9)) for s in seconds[: len(shown)]])
            for name, seconds in zip(of.colours, of.measured.seconds.T.tolist(), strict=True)
        ]
    else:
        named = zip(("mean", "least", "largest"), of.measured[:3], strict=True)
        columns = [(name, [number(float(values[row])) for row in shown]) for name, values in named]
    print_beside(of.level, list(of.rows[: len(shown)]), columns, console)
    if len(of.rows) > MOST_ROWS:
        console.print(f"The first {MOST_ROWS} of {len(of.rows)} rows; --json lists all")
