"""Checks of a traced run against an untraced one and an independent counter; each yields error messages."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from apps.measure import Measured

from analyzer.recording.run.opening import open_run
from analyzer.trace import Leftovers

LEAST_LINES = 3
UNRECORDED = ("MPI_Get_version", "MPI_Get_library_version")
"""Not the library's on purpose, says docs/mpi-coverage.md."""


@dataclass(frozen=True)
class Messages:
    """All messages of a run."""

    matched: int
    unmatched: int
    backwards: int
    shortest_ns: int | None  # from the entry of the send to the exit of the call that completed the receive
    problems: list[str]


def read_messages(run: Path) -> Messages:
    """Match the messages of a run, window by window."""
    trace = open_run(str(run))
    matched = backwards = 0
    shortest: list[int] = []
    for begin, end in itertools.pairwise(trace.windows()):
        messages = trace.messages(int(begin), int(end))
        took = messages["physical_receive"] - messages["logical_send"]
        ordered = (messages["logical_send"] <= messages["physical_send"]) & (took >= 0)
        ordered &= messages["logical_receive"] <= messages["physical_receive"]
        matched += len(messages)
        backwards += int((~ordered).sum())
        shortest += [int(took.min())] if len(took) else []
    unmatched = len(trace.extra(Leftovers).unmatched())
    problems = list(map(str, trace.problems))
    trace.close()
    return Messages(matched, unmatched, backwards, min(shortest, default=None), problems)


def check_results(measured: Measured) -> Iterator[str]:
    """The application's own result, line by line."""
    if len(measured.expected) < LEAST_LINES:
        yield f"its result was not found in its output: {measured.expected}"
    if measured.found != measured.expected:
        pairs = itertools.zip_longest(measured.expected, measured.found)
        other = next((a, b) for a, b in pairs if a != b)
        yield f"traced, its result is another one: {other[1]!r} instead of {other[0]!r}"


def check_counts(measured: Measured) -> Iterator[str]:
    """Calls of each procedure on each rank."""
    for rank, (file, counted) in enumerate(zip(measured.rank_files, measured.counted, strict=True)):
        recorded = file.counts()
        for name in sorted({*recorded, *counted} - {"receives", *UNRECORDED}):
            if recorded[name] != counted[name]:
                yield f"rank {rank}: {recorded[name]} calls of {name} recorded, {counted[name]} counted"


def check_messages(measured: Measured, messages: Messages) -> Iterator[str]:
    """As many matched messages as receives were counted, none left over, none received before it was sent."""
    receives = sum(counted["receives"] for counted in measured.counted)
    if messages.matched != receives:
        yield f"{messages.matched} messages matched, {receives} receives counted"
    if messages.unmatched:
        yield f"{messages.unmatched} sends or receives are not matched"
    if messages.backwards:
        yield f"{messages.backwards} messages were received before they were sent"
    yield from messages.problems


def check_recording(measured: Measured, messages: Messages) -> list[str]:
    """All of these."""
    return [*check_results(measured), *check_counts(measured), *check_messages(measured, messages)]
