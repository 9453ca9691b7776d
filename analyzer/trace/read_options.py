"""Options for reading a trace: the choices of its user, and the amounts in which rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes

if TYPE_CHECKING:
    from analyzer.trace.chosen import Choice


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options with which `analyzer.opening` has a source open a trace. All members of a team must give the same.

    Attributes:
        repair_ns: Move times so that no message takes less than this, and no collective ends before all have begun it.
            None: keep times.
        impossible: Accept impossible time stamps; else reading such a row raises TracelibError.
        choice: Ranks to read; the others count as missing (`Losses.missing`), and `Chosen` says so. None: all.
        matched: A team matches the messages when it opens the trace; else at their first use, by all members together.
        sizes: Amounts in which rows are read. In a team, rank 0's amounts hold.
    """

    repair_ns: int | None = None
    impossible: bool = False
    choice: Choice | None = None
    matched: bool = True
    sizes: ReadSizes = DEFAULT_SIZES
