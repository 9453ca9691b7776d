"""`analyze balance RUN... --plan PLAN`: what a plan expected, beside what runs under it took."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.report import balance as report

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.results.balance_models import Comparison, ComparisonResult
    from analyzer.results.machine_choice import MachineChoice
    from analyzer.trace import Trace
    from tracelib.schema.shares import SharePlan


def compare(
    session: Session, files: Sequence[str], choice: MachineChoice, asked: dict, picture: Path | None
) -> ComparisonResult:
    """Compare what runs took with what a plan expected of their sizes, and draw it.

    Args:
        session: The command's.
        files: The runs.
        choice: The machine of replays with CPU time.
        asked: Options: compare (the plan), items (one number for each run, or none), region, cpu_time.
        picture: A .png or .svg file; None: none is drawn.

    Raises:
        TracelibError: A run does not fit the plan.
    """
    from analyzer.results.balance_models import ComparisonResult

    sizes: Sequence[int | None] = asked["items"] or [None] * len(files)
    if len(sizes) != len(files):
        raise TracelibError(f"{len(sizes)} sizes for {len(files)} runs", "--items once for each run, in their order", 2)
    every = [_compared(session, file, size, choice, asked) for file, size in zip(files, sizes, strict=True)]
    result = ComparisonResult(every)
    if picture:
        if not result._processes:
            raise TracelibError(f"{asked['compare']} does not say what processes take", "write the plan anew")
        from analyzer.report.pictures.process_times import draw_process_times

        draw_process_times(result._processes, picture)
    return result


def _compared(session: Session, file: str, items: int | None, choice: MachineChoice, asked: dict) -> Comparison:
    from analyzer.balance.plans import load_plan
    from analyzer.balance.process_times import process_times
    from analyzer.operations.bursts import check_cpu_time
    from analyzer.results.machine_choice import replaying

    with opened(session, file, region=asked["region"]) as trace:
        plan = load_plan(asked["compare"], trace.size)
        size = _size(plan, items, asked["compare"])
        expected = dict(plan.expected)[size]
        if not trace.has_call_times:
            raise TracelibError(f"{trace.path} has no times to compare with")
        if asked["cpu_time"]:
            check_cpu_time(trace)
        incomplete = ""
        if asked["cpu_time"]:
            taken_ns, incomplete = _replayed(session, trace, choice)
        else:
            taken_ns = _taken_ns(session, trace, asked["region"])
        found = report.PlanComparison(trace.path, expected, taken_ns / 1e9, asked["cpu_time"], incomplete)
        if (times := plan.times_at(size)) is None:
            return found, None
        with session.step("Measuring processes"), replaying(trace, session.team):
            of_ranks = process_times(
                trace, session.team, items or size, times, expected,
                region=asked["region"], cpu_time=asked["cpu_time"],
            )  # fmt: skip
        return found, of_ranks


def _size(plan: SharePlan, items: int | None, path: str) -> float:
    """Return the size that the plan says something of: that of the run, or the only one. Raises TracelibError for
    another."""
    known = dict(plan.expected)
    if items is not None and float(items) in known:
        return float(items)
    if len(known) == 1:
        return next(iter(known))
    sizes = ", ".join(f"{one:g}" for one in known) or "no size"
    raise TracelibError(f"{path} does not say what to expect of this run", f"--items: it knows {sizes}")


def _replayed(session: Session, trace: Trace, choice: MachineChoice) -> tuple[int, str]:
    """Return the length that the run would have had with a CPU for each rank, on the machine that a proposal takes,
    too; and what this leaves out."""
    from analyzer.operations.program import program_of
    from analyzer.replay.simulate import simulate
    from analyzer.report.words.left_out import left_out_lines, left_out_text
    from analyzer.results.machine_choice import replaying

    with session.step("Replaying"), replaying(trace, session.team):
        machine = choice.known(trace, session.team) or choice.or_ideal()
        program = program_of(trace, session.team, buffered=machine.eager_limit is None)
        session.mention(left_out_lines([program], machine))
        return simulate(program, machine).end_ns, left_out_text(program, machine)


def _taken_ns(session: Session, trace: Trace, region: str | None) -> int:
    """Return the length of the run, or the longest time that a rank was in a region."""
    from analyzer.metrics.regions import region_profile

    if region is None:
        return trace.duration_ns
    profile = region_profile(trace, session.team)
    if region not in profile.names:
        raise TracelibError(f"{trace.path} has no region {region!r}", "--region names one")
    return int(profile.time_ns[:, profile.names.index(region)].max())
