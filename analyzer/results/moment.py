"""Result of `analyze what`: what ranks do at a moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.report.snapshot import moment_json, print_all, print_moment
from analyzer.results.result import Result
from analyzer.snapshot import Snapshot, take_snapshot
from analyzer.trace import Trace


@dataclass(frozen=True, repr=False)
class MomentResult(Result):
    """State of one rank or of all ranks at a moment.

    Attributes:
        is_single: Whether one rank was chosen, which is shown in detail.
    """

    _main: ClassVar[tuple[str, ...]] = ("ranks",)

    _trace: Trace
    _moments: tuple[Snapshot, ...]
    is_single: bool

    def to_dict(self) -> dict[str, Any]:
        return {"file": str(self._trace.path), "ranks": [moment_json(self._trace, one) for one in self._moments]}

    def print(self, console: Console) -> None:
        if self.is_single:
            print_moment(self._trace, self._moments[0], console)
        else:
            print_all(self._trace, list(self._moments), console)


def check_moment(trace: Trace, *, rank: int | None) -> None:
    """Raise TracelibError if a run has no times, or no such rank."""
    if not trace.has_call_times:
        raise TracelibError(f"{trace.path} has operations only, no times", "look at the run that it was made of")
    if rank is not None and rank >= trace.size:
        raise TracelibError(f"{trace.path} has no rank {rank}", f"give one from 0 to {trace.size - 1}")


def compute(trace: Trace, *, at_ns: int, rank: int | None = None, around: int = 3) -> MomentResult:
    """Find what ranks do at a moment.

    Args:
        trace: An opened run.
        at_ns: The moment, ns from the start of the run.
        rank: The rank. None: all ranks.
        around: Number of calls before and after the moment.

    Raises:
        TracelibError: The run has no times, no such rank, or ends before the moment.
    """
    check_moment(trace, rank=rank)
    file = trace.path
    if at_ns > trace.duration_ns:
        ends = f"{trace.duration_ns / 1e9:.6f} s"
        raise TracelibError(f"{file} ends at {ends}, before {at_ns / 1e9:.6f} s", "give an earlier moment")
    ranks = range(trace.size) if rank is None else [rank]
    found = [take_snapshot(trace, one, at_ns, around, messages=rank is not None) for one in ranks]
    return MomentResult(trace, tuple(found), rank is not None)
