"""Options for opening a trace: what the user chooses to read, and how many rows are read at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes

if TYPE_CHECKING:
    from analyzer.trace.chosen import Choice


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options with which `analyzer.opening` opens a trace. All members of a team must give the same options.

    Attributes:
        repair_ns: Smallest time of a message, ns. Times are moved so that no message takes less, and no collective ends
            before all members have begun it. None: times are kept.
        impossible: True: accept impossible time stamps. False: reading a row with one raises TracelibError.
        choice: Ranks to read; the other ranks count as missing (`Losses.missing`, `Chosen`). None: all ranks.
        matched: True: a team matches the messages when it opens the trace. False: at their first use, by all members at
            the same time.
        sizes: Numbers of rows that are read at a time. In a team, the values of rank 0 hold.
    """

    repair_ns: int | None = None
    impossible: bool = False
    choice: Choice | None = None
    matched: bool = True
    sizes: ReadSizes = DEFAULT_SIZES
