"""Session of a command: its team of processes, printing by one process only, and progress."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.parallel import Team
from analyzer.results.open_part import IterationChoice, remarks

if TYPE_CHECKING:  # rich takes as long to import as click: only who prints pays for it
    from rich.console import Console, RenderableType

    from analyzer.trace import Trace
    from analyzer.trace.chosen import Choice

PIPE_WIDTH = 80
"""Number of columns of text that goes to a pipe or file."""
WIDEST = 100
"""Largest number of columns of the text on a terminal."""


@dataclass
class Session:
    """One execution of a command: its processes, its common options, and its output.

    Attributes:
        team: Processes that share the work.
        quiet: Whether only errors are printed.
        wanted: Iterations that the user chose. None: the whole run.
        in_buffers: Paths of opened runs of which buffers on this node hold a part.
        file: The argument FILE as it was typed.
        as_json: Whether the result is printed as JSON.
        choice: Ranks and cluster that the user chose (--ranks, --cluster). None: all.
        repair_ns: Value of --repair-clocks. None: the option was not given.
        schema: Name of the command in its JSON.
        version: Version of the JSON. 0: the command has no --json.
    """

    team: Team
    quiet: bool = False
    wanted: IterationChoice | None = None  # of the iterations of what is opened (iteration_option)
    in_buffers: list[str] = field(default_factory=list)  # opened runs of which buffers of this node have a part
    file: str = ""  # FILE, as it was typed
    as_json: bool = False
    choice: Choice | None = None  # of the ranks of what is opened (--ranks, --cluster)
    repair_ns: int | None = None  # --repair-clocks
    schema: str = ""  # name of the command, as JSON says it
    version: int = 0  # of the command's JSON; 0: it has none

    @property
    def speaks(self) -> bool:
        """True on the one process of the team that prints."""
        return self.team.rank == 0

    @property
    def alone(self) -> bool:
        """True if this is the only process. Under mpirun, what looks like a terminal may end in a file."""
        return self.team.size == 1

    def print(self, render: Callable[[Console], None]) -> None:
        """Print text by one process: with colours on a terminal, plain and 80 columns wide in a pipe.

        Args:
            render: Function that prints to the console it is given.
        """
        if not self.speaks:
            return
        from rich.console import Console

        if sys.stdout.isatty() and self.alone:
            render(Console(width=min(Console().width, WIDEST), highlight=False))
            return
        text = io.StringIO()
        render(Console(file=text, width=PIPE_WIDTH, highlight=False, no_color=True, force_terminal=False))
        _write("\n".join(line.rstrip() for line in text.getvalue().splitlines()))

    def print_tables(self, tables: Iterable[RenderableType]) -> None:
        """Print tables and texts, with an empty line between them. Only one process prints."""

        def render(console: Console) -> None:
            for number, table in enumerate(tables):
                if number:
                    console.print()
                console.print(table)

        self.print(render)

    def print_json(self, data: Any) -> None:
        """Print one JSON document by one process, and add the schema and version to each dict.

        Args:
            data: A dict or a list of dicts.
        """
        if not self.speaks:
            return
        if self.version:
            said = {"schema": self.schema, "version": self.version}
            data = [said | one for one in data] if isinstance(data, list) else said | data
        _write(json.dumps(data, indent=2))

    def show(self, result: Any) -> None:
        """Print the result of a command as text or as JSON, as the command's options say. None: print nothing."""
        if result is None:
            return
        if self.as_json:
            self.print_json(result.to_dict())
        elif not self.quiet:
            self.print(result.print)

    def say(self, text: str) -> None:
        """Print a line on standard output, unless the user asked for silence."""
        if self.speaks and not self.quiet:
            _write(text)

    def report(self, text: str) -> None:
        """Print a line while a command still works. With --json, nothing is printed."""
        if not self.as_json:
            self.say(text)

    def mention(self, lines: Iterable[str]) -> None:
        """Write lines on standard error by one process, except with --quiet."""
        if self.speaks and not self.quiet:
            for line in lines:
                click.echo(line, err=True)

    def call_on_close(self, clean_up: Callable[[], None]) -> None:
        """Call `clean_up` when the command ends."""
        click.get_current_context().call_on_close(clean_up)

    def note_buffers(self, trace: Trace) -> None:
        """Remember a run that is to be completed from its buffers after it was read."""
        from analyzer.trace import Losses

        if self.alone and trace.extra(Losses).in_buffers:
            self.in_buffers.append(str(trace.path))

    def mention_problems(self, trace: Trace) -> None:
        """Write the remarks about a trace on standard error."""
        self.mention(remarks(trace))

    def mention_choice(self, trace: Trace) -> None:
        """Write a line on standard error if only some ranks were read."""
        from analyzer.trace.chosen import choice_named

        if said := choice_named(trace):
            self.mention([f"{Path(trace.path).name}: {said}"])

    @contextmanager
    def step(self, label: str) -> Iterator[Callable[[str], None]]:
        """Show `label` on a terminal while the context is open.

        The context yields a function that shows the progress.
        """
        if not label or not self.alone or self.quiet or not sys.stderr.isatty():
            yield lambda text: None
            return
        from rich.console import Console

        with Console(stderr=True).status(label) as status:
            yield lambda text: status.update(f"{label}: {text}")


def _write(text: str) -> None:
    """Write text on standard output. If the reader has gone away (`| head`), that is no error."""
    try:
        click.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
