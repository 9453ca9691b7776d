"""Options of `analyze replay` for another distribution of the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.shared.options import rare_option
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.program.model import Program
    from analyzer.trace import Trace


@dataclass(frozen=True)
class Distribution:
    """Distribution of work that the options ask for."""

    plan: str
    now: str | None
    items: int | None
    region: str | None
    messages: bool

    def of(self, trace: Trace, program: Program) -> Program:
        """Return the program of a run under the plan. Raises TracelibError where they do not fit."""
        import numpy as np

        from analyzer.balance.plans import load_plan, parts_of
        from analyzer.balance.scaled_program import redistributed, shared_part

        parts = parts_of(load_plan(self.plan, program.ranks), self.items)
        had = parts_of(load_plan(self.now, program.ranks), self.items) if self.now else None
        before = np.full(program.ranks, 1 / program.ranks) if had is None else had
        if (before <= 0).any():
            raise TracelibError(
                f"rank {int(np.argmin(before))} had no items", "what it would do with some is not known"
            )
        marked, _ = shared_part(trace, program, self.region)
        return redistributed(marked, parts / before, messages=self.messages)


_OPTIONS = (
    click.option(
        "--shares",
        "plan",
        type=click.Path(),
        metavar="FILE",
        help="Plan of analyze balance that the first run follows.",
    ),
    rare_option(
        "--shares-now",
        "now",
        type=click.Path(),
        metavar="FILE",
        show_default="equal shares",
        help="Plan that FILE ran with.",
    ),
    rare_option(
        "--items",
        type=click.IntRange(1),
        metavar="N",
        show_default="any fraction",
        help="Number of whole items that are shared.",
    ),
    rare_option(
        "--shares-region",
        "region",
        metavar="NAME",
        show_default="all computation",
        help="Share the computation in this region.",
    ),
    rare_option(
        "--shares-messages", "messages", is_flag=True, help="Let the size of a rank's messages grow with its share."
    ),
)


def shares_options(command: Callable) -> Callable:
    """Add the options; the command gets `distribution`, None where there is no plan."""

    @wraps(command)
    def with_shares(
        *args: Any,
        plan: str | None,
        now: str | None,
        items: int | None,
        region: str | None,
        messages: bool,
        **given: Any,
    ) -> Any:
        if plan is None and (now or items or region or messages):
            raise TracelibError("there is no plan that shares anything", "--shares PLAN")
        found = Distribution(plan, now, items, region, messages) if plan is not None else None
        return command(*args, distribution=found, **given)

    for option in reversed(_OPTIONS):
        with_shares = option(with_shares)
    return with_shares
