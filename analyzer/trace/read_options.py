"""Options for reading a trace: the choices of its user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.trace.chosen import Choice


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Choices for opening a trace, which `analyzer.opening` hands to its source.

    Attributes:
        repair_ns: Move times so that no message takes less than this, and no collective ends before all have begun it.
        impossible: Accept impossible time stamps; else reading such a row raises TracelibError.
        choice: Ranks to read; the others count as missing (`Losses.missing`), and `Chosen` says so.
        matched: A team matches the messages when it opens the trace; else at their first use, by all members together.
    """

    repair_ns: int | None = None
    impossible: bool = False
    choice: Choice | None = None
    matched: bool = True
