"""`analyze balance`: a plan of how much each rank should compute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, Output, Result, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.machine_option import machine_choice
from analyzer.commands.shared.options import rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_replaceable, checked_picture

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.balance.repository import MachineModel
    from analyzer.results.machine_choice import MachineChoice
    from analyzer.trace import Trace


class _Mix(click.ParamType):
    """Parameter type of machines such as taurus=8,bio=6: (name, count)."""

    name = "machines"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple:
        if isinstance(value, tuple):
            return value
        found = []
        for part in str(value).split(","):
            name, equals, count = part.rpartition("=")
            if not (equals and name and count.isdecimal() and int(count[:9]) > 0 and len(count) < 7):
                self.fail(f"{value!r} is no list of machines such as taurus=8,bio=6", param, ctx)
            found.append((name.strip(), int(count)))
        return tuple(found)


@command(
    "How to share work among unequal nodes, and what that gains.",
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    output="Write the plan into this file, for tracelib.balance and analyze replay --shares.",
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, metavar="[FILE]...")
@click.option("--region", metavar="NAME", show_default="all computation", help="Share the computation in this region.")
@click.option(
    "--items",
    type=click.IntRange(1),
    multiple=True,
    metavar="N",
    show_default="any fraction",
    help="Number of whole items that are shared; with --plan once for each FILE.",
)
@rare_option(
    "--shares-now",
    "now",
    type=click.Path(),
    old=("--now",),
    metavar="FILE",
    show_default="equal shares",
    help="Plan that FILE ran with.",
)
@rare_option("--cpu-time", is_flag=True, help="Measure speeds by CPU time, not by the clock.")
@rare_option(
    "--shares-messages", "messages", is_flag=True, help="Let the size of a rank's messages grow with its share."
)
@click.option(
    "--plan",
    "compare",
    type=click.Path(),
    metavar="FILE",
    help="Compare the times that this plan expected with those of each FILE.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="With --plan: draw the times of processes into this .png or .svg file.",
)
@click.option(
    "--models", type=click.Path(), metavar="PATH", help="Repository of machine models, used in place of FILE."
)
@click.option(
    "--learn",
    "times",
    type=click.Path(),
    metavar="CSV|NAME=MODEL",
    help="Add models to --models, from a table of times or a stored model.",
)
@rare_option(
    "--degree", type=click.IntRange(0, 6), default=2, metavar="N", show_default=True, help="Degree of the models in n."
)
@rare_option(
    "--terms",
    metavar="GROUPS",
    show_default="powers of n",
    help="Candidate terms of the models, such as {n*log2(n),n^2},{1/p}.",
)
@click.option(
    "--machines", "mix", type=_Mix(), metavar="LIST", help="Plan for these numbers of machines, such as taurus=8,bio=6."
)
@click.option(
    "--size",
    "sizes",
    type=click.IntRange(1),
    multiple=True,
    metavar="N",
    help="Size of the problem, n, that a plan is for.",
)
@rare_option(
    "--static", "static_size", type=click.IntRange(1), metavar="N", help="Use the fractions of this size for all sizes."
)
@machine_choice
def balance_command(
    session: Session,
    files: tuple[str, ...],
    models: str | None,
    picture: str | None,
    choice: MachineChoice,
    output: str | None,
    force: bool,
    **asked: Any,
) -> Result | None:
    """Propose who should compute how much, so that all ranks finish together, and predict what that gains.

    From FILE, a traced run: each rank gets work by the speed at which it computed, and the run is replayed with it.
    --machine names where the next run will be. Without a machine, that of the run is used, as its messages show it.

    From --models: times of a program on several types of machines become a model for each (--learn), and models become
    fractions for any mix of machines (--machines, --size), with the time to expect.
    """
    from analyzer.commands.cluster._balance_compared import compare

    if bool(files) == (models is not None):
        raise TracelibError("a plan is made from a run, or from --models", "analyze balance RUN, or --models FILE")
    if picture and not asked["compare"]:
        raise TracelibError("--picture draws a run beside its plan", "name the plan: --plan PATH", 2)
    if len(files) > 1 and not asked["compare"]:
        raise TracelibError("a plan is made from one run", "several are for --plan", 2)
    if output:
        check_replaceable(Path(output), [Path(name) for name in (*files, models, asked["times"]) if name], force)
    if models is not None:
        return _of_models(models, asked, output) if session.speaks else None
    if asked["compare"]:
        drawn = checked_picture(picture, [*files, asked["compare"]], force)
        return compare(session, files, choice, asked, drawn)
    if len(asked["items"]) > 1:
        raise TracelibError("a plan from a run is for one number of items", "--items once", 2)
    items = asked["items"][0] if asked["items"] else None
    with opened(session, files[0], region=asked["region"]) as trace:
        return _of_run(session, trace, choice, asked | {"items": items}, output)


def _of_run(session: Session, trace: Trace, choice: MachineChoice, asked: dict, output: str | None) -> Output:
    from analyzer.results.balance import compute

    names = ("region", "now", "items", "cpu_time", "messages")
    with session.step("Replaying"):
        result = compute(trace, session.team, choice=choice, **{name: asked[name] for name in names})
    session.mention([f"{Path(trace.path).name}: {result.incomplete}"] if result.incomplete else [])
    if output and session.speaks:
        result.save(output)
    following = f"TRACELIB_PLAN={output}, or analyze replay --shares {output}"
    return Output.of(result, lines=[f"\nWritten: {output}; next: {following}"] if output else [])


def _of_models(path: str, asked: dict, output: str | None) -> Result:
    """Show or learn models, or make a plan for a mix of machines."""
    from analyzer.balance.plans import MachineGroup, plan_of, save_plan
    from analyzer.balance.repository import load_models
    from analyzer.results.balance_models import MixResult, ModelsResult

    if asked["times"]:
        return _learned(path, asked)
    models = load_models(path)
    if asked["mix"] is None:
        return ModelsResult(models)
    groups = [MachineGroup(_named(models, name, path), count) for name, count in asked["mix"]]
    plan, found = plan_of(groups, asked["sizes"], asked["static_size"])
    if output:
        save_plan(plan, output)
    lines = [f"\nWritten: {output}; next: TRACELIB_PLAN={output}"] if output else []
    return Output.of(MixResult(groups, found, asked["static_size"] is None), lines=lines)


def _named(models: dict[str, MachineModel], name: str, path: str) -> MachineModel:
    if name not in models:
        raise TracelibError(f"{path} has no machine {name!r}", f"it has {', '.join(models) or 'none'}")
    return models[name]


def _learned(path: str, asked: dict) -> Output:
    """Add models to a repository: of measured times, or a file of `analyze fit -o`."""
    from analyzer.balance.learning import learn
    from analyzer.balance.repository import load_models, save_models
    from analyzer.results.balance_models import LearnedResult, ModelsResult

    known = load_models(path) if Path(path).exists() else {}
    machine, equals, file = asked["times"].partition("=")
    result: Result
    if equals and not Path(asked["times"]).exists():
        new = {machine: _stored(known, machine, file)}
        result = ModelsResult(new)
    else:
        learned = learn(asked["times"], asked["degree"], asked["terms"])
        new = {one.model.name: one.model for one in learned}
        result = LearnedResult(learned)
    save_models({**known, **new}, path)
    following = f"analyze balance --models {path} --machines NAME=COUNT,... --size N"
    return Output.of(result, lines=[f"\nWritten: {path}; next: {following}"])


def _stored(known: dict[str, MachineModel], machine: str, file: str) -> MachineModel:
    """Make a machine's model of a file of `analyze fit -o`: a model, or models of parts.

    If the repository knows the machine, the machine keeps its features.
    """
    from analyzer.balance.learning import machine_of, machine_of_parts
    from analyzer.models.model_file import read_model
    from analyzer.models.part_file import is_parts, read_parts

    features = known[machine].features if machine in known else {}
    if is_parts(file):
        return machine_of_parts(machine, read_parts(file), features)
    return machine_of(machine, read_model(file), features)
