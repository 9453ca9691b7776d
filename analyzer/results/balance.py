"""Result of `analyze balance` for a traced run: how work should be shared, and what that gains."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.balance.plans import load_plan, parts_of, save_plan
from analyzer.balance.traced_run import propose
from analyzer.parallel import Team
from analyzer.report.balance import BalanceReport, print_proposal, proposal_json
from analyzer.report.words.left_out import left_out_text
from analyzer.results.machine_choice import MachineChoice, replaying
from analyzer.results.result import Result
from analyzer.trace import Trace


@dataclass(frozen=True, repr=False)
class BalanceResult(Result):
    """Shares of the work with which all ranks finish together, and the predicted gain."""

    _main: ClassVar[tuple[str, ...]] = ("ranks",)

    _report: BalanceReport

    @property
    def incomplete(self) -> str:
        """One line about the calls that the replay leaves out. "": none."""
        return self._report.incomplete

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan for tracelib.balance and `analyze replay --shares`.

        Args:
            path: Path of the plan. An existing file is replaced.
        """
        save_plan(self._report.found.plan, os.fspath(path))

    def to_dict(self) -> dict[str, Any]:
        return proposal_json(self._report)

    def print(self, console: Console) -> None:
        print_proposal(self._report, console)


def compute(
    trace: Trace, team: Team, *, choice: MachineChoice, region: str | None = None, now: str | None = None,
    items: int | None = None, cpu_time: bool = False, messages: bool = False,
) -> BalanceResult:  # fmt: skip
    """Divide the work by the speed at which ranks computed, and replay the run with these shares. Collective.

    Args:
        trace: An opened run.
        team: Processes that share the reading.
        choice: The machine. If the run's machine is chosen but not known, an ideal one is used.
        region: Region whose computation is shared. None: all computation is shared.
        now: Path of the plan that the run followed. None: the run had equal shares.
        items: Number of whole items that are shared. None: any fraction is possible.
        cpu_time: Whether speeds are by CPU time, without the time that other programs took from the CPUs.
        messages: Whether the size of a rank's messages grows with its share, too.

    Raises:
        TracelibError: There is no such region, or the plan is not one of this run.
    """
    with replaying(trace, team):
        known = choice.known(trace, team)
        machine = known or choice.or_ideal()
        shares = parts_of(load_plan(now, trace.size), items) if now else None
        found = propose(trace, machine, team, region=region, now=shares, cpu_time=cpu_time, messages=messages)
    given = "the machine given" if choice.machine is not None else choice.file
    named = given or ("an ideal machine" if known is None else "the machine of the run")
    lacking = left_out_text(found, machine)
    return BalanceResult(BalanceReport(trace.path, found, items, region, cpu_time, named, lacking))
