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
        """Return the content of --json, a dict or a list of dicts, without the keys for schema and version."""

    def print(self, console: Console) -> None:
        """Print the result as text for people."""


@dataclass(frozen=True)
class Output:
    """Result whose numbers and text are given as functions.

    Attributes:
        numbers: Returns the content of --json.
        text: Prints the result as text for people.
        drawing: What --picture draws in addition to the ranks of the run.
        exit_code: Exit code of the command.
        then: Called after the result was shown. It may raise an error that must not hide the result, or for a verdict.
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
        """Make the output of a command from the result of an analysis, and add to it, for example the files written.

        Args:
            result: The result of the analysis.
            drawing: What --picture draws in addition to the ranks of the run. None: nothing.
            numbers: Further keys of the JSON. None: no further keys.
            lines: Further lines of the text.
            more: Further attributes of `Output`, such as `exit_code`.
        """

        def all_numbers() -> Any:
            return result.to_dict() | numbers if numbers else result.to_dict()

        def text(console: Console) -> None:
            result.print(console)
            print_lines(console, lines)

        return cls(all_numbers, text, drawing or Drawing(), **more)

    def to_dict(self) -> Any:
        """Return the content of --json."""
        return self.numbers()

    def print(self, console: Console) -> None:
        """Print the result as text for people."""
        self.text(console)


@dataclass(frozen=True)
class Chooses:
    """Policy of a command that accepts --place, or that accepts --ranks and --cluster.

    Attributes:
        shown: The piece of the output that covers only the chosen calls; docs/places.md lists it in its table.
    """

    shown: str = ""


@dataclass(frozen=True)
class Refuses:
    """Policy of a command that refuses --place, or --ranks and --cluster, because it needs the whole run.

    Attributes:
        why: The reason, which the error message repeats.
    """

    why: str


REPLAYS_ALL_CALLS = Refuses("a replay needs all calls, because ranks wait for each other in them")
"""Policy for --place of commands that replay a run."""
REPLAYS_ALL_RANKS = Refuses("a replay needs all ranks, because they wait for each other")
"""Policy for --ranks and --cluster of commands that replay a run."""


@dataclass(frozen=True)
class Alone:
    """Note about a command of which one process does most of the work, also under `mpirun -n N analyze`.

    Attributes:
        work: A main clause about the work of the one process, such as "one process replays".
        useful: Number of processes beyond which more processes hardly make the command faster.
        all_work: Whether one process does all the work. Its function has a team of one; the other processes wait.
    """

    work: str
    useful: int = 1
    all_work: bool = False

    def remark(self, processes: int) -> str:
        """Return the remark for a user who starts the command with this many processes. "": no remark."""
        if processes <= self.useful:
            return ""
        further = f"more than {self.useful}" if self.useful > 1 else "further"
        return f"{self.work}; {further} processes hardly make it faster"


@dataclass(frozen=True)
class Opens:
    """Description of how the argument FILE of a command is opened. The command's function gets it as `trace`.

    Attributes:
        opening: Further arguments of `analyzer.opening.open_trace`.
        remarks: Remarks on standard error: "problems" for all, "ranks" for the choice of ranks, "" for none.
        region: Name of the option whose value is the region to be analyzed. "": the command has no such option.
        whole: Whether the whole run is opened, even if --iteration names a part.
        check: Called with the session and the options before the run is opened, to refuse a wrong combination.
    """

    opening: Mapping[str, Any] = field(default_factory=dict)
    remarks: str = "problems"
    region: str = ""
    whole: bool = False
    check: Callable[..., None] | None = None


@dataclass(frozen=True)
class Spec:
    """Properties of a command as its decorator got them. The parameters of `command` explain each of them."""

    summary: str
    group: str
    opens: Opens | None
    ranks: Chooses | Refuses | None
    place: Chooses | Refuses | None
    alone: Alone | None
    json: int
    step: str

    def remark(self, processes: int) -> str:
        """Return the remark for a user who starts the command with this many processes. "": no remark."""
        return self.alone.remark(processes) if self.alone else ""


class NamesFormats(click.Command):
    """Command whose help text may contain {formats}, which is replaced by the list of all trace formats."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help text. The sources of traces are imported only here, because importing them takes long."""
        text = self.help
        if text and "{formats}" in text:
            from analyzer.sources.registry import formats_text

            self.help = text.replace("{formats}", formats_text(installed=True))
        super().format_help_text(ctx, formatter)
        self.help = text


class Command(NamesFormats, command_line.TracelibCommand):
    """Command of `analyze`, with its properties in `spec`."""

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
    """Return a decorator that turns a function into a command. The function's docstring becomes the help text.

    The function gets `session`, `trace` if `opens` is given, `place` if places can be chosen, `output` and `force` if
    it writes files, and its own options. It returns a result, which is printed or dumped as JSON. It returns None if
    it printed everything while it worked, or if this process of a team has nothing to print.

    Args:
        summary: Line of `analyze --help`: when to use the command.
        opens: How the argument FILE is opened. None: the function opens its files itself (`opened`).
        iterations: Whether --loop and --iteration choose a part of the run. "region": also --region iteration.
        ranks: Policy for --ranks and --cluster. None: the command reads no ranks of a run.
        place: Policy for --place. None: the command has no --place.
        repair: Whether the command has --repair-clocks.
        picture: Whether the command has --picture, which draws ranks over time.
        output: Help text of -o/--output. "": the command writes no files.
        json: Version of the JSON, whose schema is docs/schema/NAME.json. 0: the command has no --json.
        alone: The work that one process does alone under mpirun. None: nothing that takes long.
        step: Text that a terminal shows while the function computes; {file} stands for the run.
        name: Name on the command line. "": the function's name, without _command, and with - for _.
        kind: Class of the command, if it reads its arguments in a way of its own.
        group: Folder of the group under which `analyze --help` lists a command of another package.
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
    """Return the decorators of the options that several commands have, in the order of --help."""
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
    """Add options after the function's own options. Click lists the option that was added last first."""
    own = list(getattr(function, "__click_params__", ()))
    function.__click_params__ = []  # type: ignore[attr-defined]
    for option in reversed(added):
        function = option(function)
    function.__click_params__ += own  # type: ignore[attr-defined]
    return function


def _around(function: Callable[..., Result | None], spec: Spec) -> Callable[..., None]:
    """Return a function that runs a command's function, with the steps before and after it that all commands share."""

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
    """Call a command's function, with its run opened if it reads one, and show the result."""
    if spec.opens:
        return _of_run(session, function, spec, **given)
    result = function(session, **given)
    _finish(session, result)
    return result


def _finish(session: Session, result: Result | None, draw: Callable[[], None] = lambda: None) -> None:
    """Show a result, draw the picture, then call the result's `then`."""
    session.show(result)
    draw()
    if then := getattr(result, "then", None):
        then()


def _of_run(
    session: Session, function: Callable[..., Result | None], spec: Spec, *, file: str, picture: str | None = None,
    **given: Any,
) -> Result | None:  # fmt: skip
    """Open the run, call the command's function, show the result and draw the picture."""
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
