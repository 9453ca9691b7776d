"""Choice of ranks: how the user names them, and lines that tell the reader of a report about the choice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.errors import TracelibError
from analyzer.trace.description import ranks_named
from analyzer.trace.extras import Chosen, Losses
from analyzer.trace.trace import Trace

_STRETCH = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")
_WRONG = 2
"""Exit code for a wrong command line, as in click."""


@dataclass(frozen=True)
class Choice:
    """Choice of ranks as the user names them ("3", "0-63,1000", "0-6:2" for every second rank), and of a cluster.

    If `stretches` is empty, all ranks are chosen. Only bursts of `cluster` are chosen; 0: all bursts.
    """

    text: str
    stretches: tuple[range, ...]
    cluster: int = 0

    @classmethod
    def parse(cls, text: str) -> Choice:
        """Parse the text of the option --ranks. Raises ValueError if it is not a list of ranks."""
        return cls(text, tuple(_stretch(part.strip()) for part in text.split(",")))

    def of(self, size: int, path: str) -> tuple[int, ...]:
        """Return the chosen ranks of a run, ascending. `stretches` must not be empty.

        Args:
            size: Number of ranks of the run.
            path: Name of the run for the error message.

        Raises:
            TracelibError: The run lacks a chosen rank.
        """
        last = max(stretch[-1] for stretch in self.stretches)
        if last >= size:
            there = f"ranks are 0 to {size - 1}" if size > 1 else "there is only rank 0"
            raise TracelibError(f"--ranks {self.text}: {path} has no rank {last}", there, _WRONG)
        return tuple(sorted({rank for stretch in self.stretches for rank in stretch}))


def _stretch(text: str) -> range:
    found = _STRETCH.fullmatch(text)
    first, last, step = (int(number or 0) for number in found.groups()) if found else (0, 0, 0)
    if not found or (found[3] and not step):
        raise ValueError(text)
    last = last if found[2] else first
    if last < first:
        raise ValueError(text)
    return range(first, last + 1, step or 1)


def unreadable(missing: Sequence[int], chosen: Sequence[int] | None) -> list[int]:
    """Return the ranks that could not be read, ascending: ranks that are missing although they were chosen.

    Args:
        missing: All ranks that the trace lacks (`Losses.missing`).
        chosen: The ranks that were to be read. None: all ranks.
    """
    return sorted(set(missing) if chosen is None else set(missing).intersection(chosen))


def choice_named(trace: Trace) -> str:
    """Describe the choice of ranks and bursts in a line, or "" if all are chosen.

    For example: "64 of 4096 ranks chosen, only bursts of cluster 2 count as computing".
    """
    chosen = trace.extra(Chosen)
    if chosen.ranks is None and not chosen.cluster:
        return ""
    ranks = f"{trace.size} ranks" if chosen.ranks is None else f"{len(chosen.ranks)} of {trace.size} ranks chosen"
    return f"{ranks}, {_of_cluster(chosen.cluster)}" if chosen.cluster else ranks


def _of_cluster(cluster: int) -> str:
    return f"only bursts of cluster {cluster} count as computing"


def ranks_lacking(trace: Trace) -> str:
    """Describe in a line which ranks a trace lacks, and whether only some bursts count; "" if nothing is lacking."""
    missing, of_choice = trace.extra(Losses).missing, trace.extra(Chosen)
    chosen = of_choice.ranks
    unread = unreadable(missing, chosen)
    said = [f"only {len(chosen)} of {trace.size} ranks were chosen"] if chosen is not None else []
    said += [_of_cluster(of_choice.cluster)] if of_choice.cluster else []
    return ", and ".join([*said, *([f"{ranks_named(unread)} could not be read"] if unread else [])])


def one_sided(trace: Trace) -> str:
    """Describe in a line how many sends and receives were left out because the rank of the other side was not chosen.

    "": none was left out.
    """
    number = trace.extra(Chosen).one_sided()
    if not number:
        return ""
    sides = "1 send or receive is" if number == 1 else f"{number} sends and receives are"
    return f"{sides} left out, because the other side is of ranks that were not chosen"
