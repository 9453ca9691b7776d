"""A command: a file of `analyzer/commands/GROUP/` with one function, of which `command` makes a `Command`.

The function has what only this command does: its options, and what it computes. What all commands do alike is done
here, around it: opening the run, remarks, `--json` or printing, `--picture`, closing, the exit code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Protocol, Self

import click

from analyzer.commands.shared import options
from analyzer.commands.shared.iteration_option import iteration_option, iteration_options, opened
from analyzer.commands.shared.picture import Drawing, check_picture, draw_ranks, picture_option
from analyzer.commands.shared.session import Session
from analyzer.parallel import Team
from analyzer.results.result import print_lines
from tracelib import command_line

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from rich.console import Console


class Result(Protocol):
    """Result that a command returns. It may also have `drawing`, `exit_code` and `then` (`Output` explains them)."""

    def to_dict(self) -> Any:
        """Return what --json prints, without its schema and version: a dict, or a list of them."""

    def print(self, console: Console) -> None:
        """Print it for people."""


@dataclass(frozen=True)
class Output:
    """A result that is made of functions.

    Attributes:
        numbers: Returns what --json prints.
        text: Prints it for people.
        drawing: What --picture draws, besides the run.
        exit_code: What the command ends with.
        then: Is called when all is shown: for a verdict, or an error that was no reason to show nothing.
    """

    numbers: Callable[[], Any]
    text: Callable[[Console], None]
    drawing: Drawing = field(default_factory=Drawing)
    exit_code: int = 0
    then: Callable[[], None] | None = None

    @classmethod
    def of(
        cls, result: Result, drawing: Drawing | None = None, *, numbers: Mapping[str, Any] | None = None,
        lines: Sequence[str] = (), **more: Any,
    ) -> Self:  # fmt: skip
        """Return a result of an analysis with what its command adds to it, such as the files that were written.

        Args:
            result: The result of the analysis.
            drawing: What --picture draws, besides the run.
            numbers: Further keys of the JSON.
            lines: Further lines of the text.
            more: Further attributes.
        """

        def all_numbers() -> Any:
            return result.to_dict() | numbers if numbers else result.to_dict()

        def text(console: Console) -> None:
            result.print(console)
            print_lines(console, lines)

        return cls(all_numbers, text, drawing or Drawing(), **more)

    def to_dict(self) -> Any:
        return self.numbers()

    def print(self, console: Console) -> None:
        self.text(console)


@dataclass(frozen=True)
class Chooses:
    """Policy of a command that takes --place, or --ranks and --cluster.

    Attributes:
        shown: What of the output is then of the chosen calls only, for the table of docs/places.md.
    """

    shown: str = ""


@dataclass(frozen=True)
class Refuses:
    """Policy of a command that refuses --place, or --ranks and --cluster, because a part has no meaning for it.

    Attributes:
        why: The reason, which the error says.
    """

    why: str


REPLAYS_ALL_CALLS = Refuses("a replay needs all calls, because ranks wait for each other in them")
REPLAYS_ALL_RANKS = Refuses("a replay needs all ranks, because they wait for each other")


@dataclass(frozen=True)
class Alone:
    """Note of a command that one process does most of the work alone under mpirun.

    Attributes:
        work: A sentence, such as "one process replays".
        useful: Number of processes from which on more of them hardly make the command faster.
        all_work: Whether one process does everything: its function has a team of its own, and the others wait.
    """

    work: str
    useful: int = 1
    all_work: bool = False

    def remark(self, processes: int) -> str:
        """Return what to say to somebody who starts this number of processes; "": nothing."""
        if processes <= self.useful:
            return ""
        further = f"more than {self.useful}" if self.useful > 1 else "further"
        return f"{self.work}; {further} processes hardly make it faster"


@dataclass(frozen=True)
class Opens:
    """How the argument FILE of a command is opened. The function gets it as `trace`.

    Attributes:
        opening: Further arguments of `analyzer.opening.open_trace`.
        remarks: What standard error says of the run: "problems", only which "ranks" were read, or "" (nothing).
        region: Name of an option whose value is a region that is looked at.
        whole: Whether the whole run is opened, even where --iteration names a part.
        check: Is called first, with the session and the options, to refuse what does not go together.
    """

    opening: Mapping[str, Any] = field(default_factory=dict)
    remarks: str = "problems"
    region: str = ""
    whole: bool = False
    check: Callable[..., None] | None = None


@dataclass(frozen=True)
class Spec:
    """Properties of a command, as its decorator got them; the parameters of `command` explain them."""

    summary: str
    group: str
    opens: Opens | None
    ranks: Chooses | Refuses | None
    place: Chooses | Refuses | None
    alone: Alone | None
    json: int
    step: str

    def remark(self, processes: int) -> str:
        """Return what to say to somebody who starts this number of processes; "": nothing."""
        return self.alone.remark(processes) if self.alone else ""


class NamesFormats(click.Command):
    """A command in whose help {formats} stands for all formats of traces."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does. The sources are imported only for this."""
        text = self.help
        if text and "{formats}" in text:
            from analyzer.sources.registry import formats_text

            self.help = text.replace("{formats}", formats_text(installed=True))
        super().format_help_text(ctx, formatter)
        self.help = text


class Command(NamesFormats, command_line.TracelibCommand):
    """A command of `analyze`."""

    spec: Spec


def command(
    summary: str,
    *,
    opens: Opens | None = None,
    iterations: bool | str = False,
    ranks: Chooses | Refuses | None = None,
    place: Chooses | Refuses | None = None,
    repair: bool = False,
    picture: bool = False,
    output: str = "",
    json: int = 0,
    alone: Alone | None = None,
    step: str = "",
    name: str = "",
    group: str = "",
    kind: type[Command] = Command,
) -> Callable[[Callable[..., Result | None]], Command]:
    """Make a command of a function, whose docstring becomes the help.

    The function gets `session`, `trace` with `opens`, `place` if places are chosen, `output` and `force` if it writes
    files, and its own options. It returns a result to be printed or dumped. It returns None where it printed everything
    while it worked, or where this process of a team has nothing to say.

    Args:
        summary: Line of `analyze --help`: when to take the command.
        opens: How the argument FILE is opened. None: the function opens what it reads itself (`opened`).
        iterations: Whether --loop and --iteration choose a part of the run; "region": and --region iteration.
        ranks: Whether --ranks and --cluster choose ranks, or why not. None: there are no ranks of a run.
        place: Whether --place chooses calls, or why not. Every command says so.
        repair: Whether there is --repair-clocks.
        picture: Whether there is --picture, ranks over time.
        output: Help of -o/--output; "": no files are written.
        json: Version of the JSON, whose schema is docs/schema/NAME.json; 0: there is no --json.
        alone: What one process does alone under mpirun. None: nothing that takes long.
        step: What a terminal shows while the function computes; {file} stands for the run.
        name: Name on the command line. By default the function's, without _command, and with - for _.
        kind: Class of the command, if it reads its arguments in a way of its own.
        group: Folder whose group `analyze --help` lists the command in, if it comes from another package.
    """
    spec = Spec(summary, group, opens, ranks, place, alone, json, step)

    def decorate(function: Callable[..., Result | None]) -> Command:
        shared = _shared_options(spec, iterations, repair, picture, output)
        whole = _with_options(_around(function, spec), shared)
        whole = options.file_argument(whole) if opens else whole
        made = click.command(name or function.__name__.removesuffix("_command").replace("_", "-"), cls=kind)(whole)
        made.spec = spec
        return made

    return decorate


def _shared_options(spec: Spec, iterations: bool | str, repair: bool, picture: bool, output: str) -> list[Callable]:
    """Return the options that several commands have, in the order of --help."""
    added: list[Callable] = []
    if iterations:
        added.append(iteration_options if iterations == "region" else iteration_option)
    if spec.ranks:
        why = spec.ranks.why if isinstance(spec.ranks, Refuses) else ""
        added.append(options.all_ranks_needed(why) if why else options.ranks_option)
    if spec.place:
        why = spec.place.why if isinstance(spec.place, Refuses) else ""
        added.append(options.all_calls_needed(why) if why else options.place_option)
    if repair:
        added.append(options.repair_option)
    if picture:
        added.append(picture_option)
    return [*added, options.common_options(as_json=spec.json > 0, output=output)]


def _with_options(function: Callable, added: list[Callable]) -> Callable:
    """Add options behind the function's own. Click collects the last one first."""
    own = list(getattr(function, "__click_params__", ()))
    function.__click_params__ = []  # type: ignore[attr-defined]
    for option in reversed(added):
        function = option(function)
    function.__click_params__ += own  # type: ignore[attr-defined]
    return function


def _around(function: Callable[..., Result | None], spec: Spec) -> Callable[..., None]:
    """Return the function with everything around it that all commands do alike."""

    def invoke(
        session: Session, /, *, quiet: bool, as_json: bool = False, choice: Any = None, repair_ns: int | None = None,
        **given: Any,
    ) -> None:  # fmt: skip
        session.quiet, session.as_json = quiet, as_json
        session.choice, session.repair_ns = choice, repair_ns
        context = click.get_current_context()
        session.schema, session.version = context.command.name or "", spec.json
        team, result = session.team, None
        if spec.alone and spec.alone.all_work:
            if session.speaks:
                result = _run(replace(session, team=Team()), function, spec, **given)
            team.barrier()
        else:
            result = _run(session, function, spec, **given)
        if code := getattr(result, "exit_code", 0):
            context.exit(code)

    return click.pass_obj(update_wrapper(invoke, function))


def _run(session: Session, function: Callable[..., Result | None], spec: Spec, **given: Any) -> Result | None:
    if spec.opens:
        return _of_run(session, function, spec, **given)
    result = function(session, **given)
    _finish(session, result)
    return result


def _finish(session: Session, result: Result | None, draw: Callable[[], None] = lambda: None) -> None:
    session.show(result)
    draw()
    if then := getattr(result, "then", None):
        then()


def _of_run(
    session: Session, function: Callable[..., Result | None], spec: Spec, *, file: str, picture: str | None = None,
    **given: Any,
) -> Result | None:  # fmt: skip
    """Open the run, compute, show the result and draw it."""
    opens = spec.opens or Opens()
    session.file = file
    if opens.check:
        opens.check(session, **given)
    region = given.get(opens.region) if opens.region else None
    with opened(session, file, region=region, remarks=opens.remarks, whole=opens.whole, **opens.opening) as trace:
        check_picture(picture, trace)
        with session.step(spec.step.format(file=file)):
            result = function(session, trace, **given)
        drawing = getattr(result, "drawing", Drawing())
        _finish(session, result, lambda: draw_ranks(session, trace, picture, drawing))
    return result
