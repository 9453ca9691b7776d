"""The tables of the first look. Each function makes one table, for rich to print."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

import numpy as np
from rich.table import Table
from rich.text import Text

from analyzer.metrics.clusters import RankMeasure
from analyzer.metrics.collectives import CollectiveTotals
from analyzer.metrics.messages import Messages
from analyzer.report.look.summary import Summary
from analyzer.report.words import units
from analyzer.report.words.groups import AlikeRanks, alike_ranks
from analyzer.report.words.table import plain_table
from analyzer.trace import Chosen, Communicator

MOST_CALLS = 15
MOST_REGIONS = 15
LONGEST_NAME = 24
MOST_SIZES = 12
MOST_COLLECTIVES = 8
MOST_OBJECTS = 8
_NOTICEABLE = 0.0005
"""Share of the time below which the row "Other" is not shown."""
_FLAVORS = {1: "created", 2: "allocated", 3: "dynamic", 4: "shared"}
WIDEST_IN_BYTES = 9
"""Largest number of blocks of a matrix that shows bytes. A larger matrix shows shares of the whole."""


def time_parts(summary: Summary) -> dict[str, np.ndarray]:
    """Return the time of each rank's threads by activity in ns, int64 of shape (ranks,). Together they are all time."""
    trace = summary.trace
    parts = {
        "Computing": summary.useful.by_rank(),
        "In MPI": summary.mpi_ns,
        "Waiting for a CPU": summary.cpu_waits_ns,
    }
    if trace.origin.tracer_times:
        parts["Tracer"] = summary.tracer_ns
    parts["Not recorded"] = summary.unrecorded.time_ns
    parts["Other"] = summary.room_ns - sum(parts.values())
    return parts


def time_table(summary: Summary) -> Table:
    """Make a table of the time by activity: all ranks together, and the ranks with the least and the most time."""
    whole, present = summary.whole_ns, summary.present
    parts = time_parts(summary)
    if parts["Other"][present].sum() <= whole * _NOTICEABLE:
        del parts["Other"]
    table = plain_table("", "share", "total", "mean", "least", "on rank", "most", "on rank")
    for name, of_all in parts.items():
        ns = of_all[present]
        if not ns.any():
            continue
        low, high = int(ns.argmin()), int(ns.argmax())
        table.add_row(
            name,
            units.percent(ns.sum() / whole) if whole else "",
            units.time(int(ns.sum())),
            units.time(float(ns.mean())),
            *(units.time(int(ns[low])), str(present[low])),
            *(units.time(int(ns[high])), str(present[high])),
        )
    return table


def ranks_alike(summary: Summary) -> AlikeRanks | None:
    """Group the ranks that behave alike. None: there are few ranks, which are shown one by one."""
    profile, present = summary.profile, summary.present
    return alike_ranks(
        present,
        RankMeasure("computing", summary.useful.by_rank()[present]),
        RankMeasure("in MPI", profile.mpi_ns()[present]),
        RankMeasure("waiting", summary.waits.time_ns[present].sum(axis=1)),
        RankMeasure("calls", profile.count[present].sum(axis=1), "calls"),
        RankMeasure("sent", profile.sent[present].sum(axis=1), "bytes"),
    )


def calls_table(summary: Summary) -> Table:
    """Make a table of MPI procedures by time, with the time of the least, the mean and the longest rank."""
    profile = summary.shown
    whole = summary.whole_ns
    table = plain_table("MPI_", "time", "of run", "calls", "bytes", "mean", "least", "mean", "most")
    order = profile.by_time()
    for p in order[:MOST_CALLS]:
        ns, number = profile.inside_ns[summary.present, p], int(profile.count[:, p].sum())
        moved = max(int(profile.sent[:, p].sum()), int(profile.received[:, p].sum()))
        table.add_row(
            profile.procedures[p].removeprefix("MPI_"),
            units.time(int(ns.sum()), ""),
            units.percent(ns.sum() / whole).replace(" ", "") if whole else "",
            units.count(number),
            *((units.size(moved, ""), units.size(moved / number, "")) if moved else ("-", "-")),
            *(units.time(float(t), "") for t in (ns.min(), ns.mean(), ns.max())),
        )
    if len(order) > MOST_CALLS:
        rest = sum(int(profile.inside_ns[:, p].sum()) for p in order[MOST_CALLS:])
        table.add_row(f"{len(order) - MOST_CALLS} more", units.time(rest, ""))
    return table


def regions_table(summary: Summary) -> Table:
    """Make a table of the program's regions by time.

    It has the number of visits, their time, the shares of computing and MPI in it, and the load balance in the region.
    """
    regions = summary.regions
    whole = summary.whole_ns
    table = plain_table("region", "calls", "time", "of run", "mean", "computing", "in MPI", "balance")
    order = regions.by_time()
    for r in order[:MOST_REGIONS]:
        time, calls = int(regions.time_ns[:, r].sum()), int(regions.count[:, r].sum())
        parts = [int(ns[:, r].sum()) for ns in (regions.useful_ns, regions.mpi_ns)]
        balance = regions.balance(r)
        table.add_row(
            Text(_cut(regions.names[r])),
            units.count(calls),
            units.time(time, ""),
            units.percent(time / whole).replace(" ", "") if whole else "",
            units.time(time / calls, ""),
            *(units.percent(ns / time) if time else "-" for ns in parts),
            "-" if balance is None else units.percent(balance),
        )
    if len(order) > MOST_REGIONS:
        table.add_row(f"{len(order) - MOST_REGIONS} more")
    return table


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."


def collectives_table(summary: Summary) -> Table:
    """Make a table of collectives by procedure and communicator.

    Communicators without a name that have the same ranks share a row.
    """
    table = plain_table("MPI_", "on", "ranks", "time", "calls", "bytes sent")
    groups = _by_members(summary)
    for group in groups[:MOST_COLLECTIVES]:
        communicator = summary.trace.communicators[group[0].comm]
        name = _short_name(communicator, summary.trace.size)
        if len(group) > 1:
            name = f"{len(group)} of {communicator.ranks}"
        table.add_row(group[0].procedure.removeprefix("MPI_"), Text(name), _members(communicator), *_sums(group))
    rest = groups[MOST_COLLECTIVES:]
    if rest:
        table.add_row(f"{len(rest)} more", "", "", *_sums([c for group in rest for c in group]))
    return table


def _by_members(summary: Summary) -> list[list[CollectiveTotals]]:
    """Group collectives by procedure and communicator, the most expensive group first.

    Unnamed communicators with the same members form one group, because a loop may create a communicator again and
    again.
    """
    groups: dict[tuple, list[CollectiveTotals]] = {}
    for c in summary.collectives:
        of = summary.trace.communicators[c.comm]
        unnamed = of.id != 1 and not of.name
        groups.setdefault((c.procedure, *((of.members, of.remote) if unnamed else (c.comm,))), []).append(c)
    return sorted(groups.values(), key=lambda group: -sum(c.time_ns for c in group))


def _sums(group: Sequence[CollectiveTotals]) -> tuple[str, str, str]:
    sent = sum(c.sent for c in group)
    calls = units.count(sum(c.calls for c in group))
    return units.time(sum(c.time_ns for c in group)), calls, units.size(sent) if sent else "-"


def accesses_table(summary: Summary, kind: str) -> Table:
    """Make a table of the RMA windows or the files (kind "window" or "file"), by the time of the calls on them."""
    names = ("window", "got", "put") if kind == "window" else ("file", "read", "written")
    table = plain_table(names[0], "ranks", "time", "calls", *names[1:])
    found = [a for a in summary.accesses if a.object.kind == kind]
    for a in sorted(found, key=lambda a: -a.time_ns)[:MOST_OBJECTS]:
        one = a.object
        label = one.name or f"{_FLAVORS.get(one.flags, 'window')}, {units.size(one.bytes)}"
        ranks = _members(summary.trace.communicators[one.comm]) if one.comm >= 0 else ""
        moved = (units.size(n) if n else "-" for n in (a.received, a.sent))
        table.add_row(Text(label), ranks, units.time(a.time_ns), units.count(a.calls), *moved)
    if len(found) > MOST_OBJECTS:
        table.add_row(f"{len(found) - MOST_OBJECTS} more")
    return table


def _members(communicator: Communicator) -> str:
    """Return the number of members as text.

    An intercommunicator has the sizes of both groups, joined by "+", and the number of members in other runs.
    """
    sizes = [len(communicator.members), len(communicator.remote), communicator.outside]
    return "+".join(str(size) for size in sizes if size)


def _short_name(communicator: Communicator, ranks: int) -> str:
    if communicator.id == 1 and len(communicator.members) == ranks:
        return "world"
    return _cut(communicator.name).removeprefix("MPI_") or f"{communicator.id}: {communicator.ranks}"


def size_rows(messages: Messages, *, even: bool = False) -> list[tuple[str, int, int]]:
    """Return (range of sizes, number of messages, bytes) for at most MOST_SIZES ranges of message sizes.

    Ranges are powers of two, joined until they are few enough. `even`: include empty ranges between others, for an
    axis.
    """
    used = np.flatnonzero(messages.size_count)
    step = 1
    while len(groups := _groups(used, step, even)) > MOST_SIZES:
        step *= 2
    rows = []
    for group in groups:
        classes = slice(max(0, (group - 1) * step + 1), group * step + 1)
        low, high = 1 << max(0, (group - 1) * step), (1 << group * step) - 1
        label = (
            "0 B" if group == 0 else units.size(low) if low == high else f"{units.size(low)} to {units.size(high + 1)}"
        )
        rows.append((label, int(messages.size_count[classes].sum()), int(messages.size_bytes[classes].sum())))
    return rows


def _groups(used: np.ndarray, step: int, even: bool) -> list[int]:
    """Return the numbers of the ranges, of `step` powers of two each, that contain some of the powers `used`.

    `even`: include the ranges between them.
    """
    found = np.unique((used + step - 1) // step).tolist()
    return list(range(found[0], found[-1] + 1)) if even and found else found


def sizes_table(messages: Messages) -> Table:
    """Make a table of the number and the bytes of messages by size."""
    table = plain_table("size", "messages", "of all", "bytes", "of all")
    for label, count, size in size_rows(messages):
        share = units.percent(size / messages.bytes) if messages.bytes else "-"
        table.add_row(label, units.count(count), units.percent(count / messages.count), units.size(size), share)
    return table


def matrix_table(summary: Summary) -> Table:
    """Make the communication matrix, with blocks of ranks if there are many.

    Cells are bytes, or numbers of messages if all are empty; in a large matrix they are shares of the whole.
    """
    messages = summary.messages
    cells = messages.matrix_bytes if messages.bytes else messages.matrix_count
    width, n = messages.ranks_a_block, len(cells)
    letters = [str(b) if width == 1 else ascii_uppercase[b] for b in range(n)]
    chosen = summary.trace.extra(Chosen).ranks
    shown = range(n) if chosen is None else sorted({rank // width for rank in chosen})
    table = plain_table("from \\ to", *(letters[b] for b in shown))
    whole, rows = int(cells.sum()), cells.tolist()
    for b in shown:
        last = min((b + 1) * width, summary.trace.size) - 1
        name = letters[b] if width == 1 else f"{letters[b]} {b * width}-{last}"
        table.add_row(name, *(_cell(rows[b][to], whole, n, messages.bytes > 0) for to in shown))
    return table


def matrix_unit(messages: Messages) -> str:
    """Return the unit of the cells of the communication matrix."""
    if len(messages.matrix_bytes) > WIDEST_IN_BYTES:
        return f"% of all {'bytes' if messages.bytes else 'messages'}"
    return "bytes" if messages.bytes else "messages"


def _cell(value: int, whole: int, blocks: int, is_bytes: bool) -> str:
    if value == 0:
        return "."
    if blocks > WIDEST_IN_BYTES:
        return f"{100 * value / whole:.0f}" if 200 * value >= whole else "+"
    return units.size(value, "") if is_bytes else units.count(value)
