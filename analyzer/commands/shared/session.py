"""Session of a command: the team, printing by one process only, progress."""

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
WIDEST = 100


@dataclass
class Session:
    """One invocation: its processes, and whether it should be silent."""

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
        """Only one process prints."""
        return self.team.rank == 0

    @property
    def alone(self) -> bool:
        """Whether this is the only process. Under mpirun, what looks like a terminal may end in a file."""
        return self.team.size == 1

    def print(self, render: Callable[[Console], None]) -> None:
        """Print rich text: colours and the terminal's width on a terminal, plain text of 80 columns in a pipe."""
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
        """Print one JSON document, a dict or a list of them, with the schema and the version of each dict."""
        if not self.speaks:
            return
        if self.version:
            said = {"schema": self.schema, "version": self.version}
            data = [said | one for one in data] if isinstance(data, list) else said | data
        _write(json.dumps(data, indent=2))

    def show(self, result: Any) -> None:
        """Print or dump what a command returned (`analyzer.commands.command.Result`), as its options say."""
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
        """Print a line while a command still works, unless it prints JSON at its end."""
        if not self.as_json:
            self.say(text)

    def mention(self, lines: Iterable[str]) -> None:
        """Write lines on standard error, by one process, unless the user asked for silence."""
        if self.speaks and not self.quiet:
            for line in lines:
                click.echo(line, err=True)

    def call_on_close(self, clean_up: Callable[[], None]) -> None:
        """Call `clean_up` when the command ends."""
        click.get_current_context().call_on_close(clean_up)

    def note_buffers(self, trace: Trace) -> None:
        """Remember a run that is to be completed from its buffers once it has been read."""
        from analyzer.trace import Losses

        if self.alone and trace.extra(Losses).in_buffers:
            self.in_buffers.append(str(trace.path))

    def mention_problems(self, trace: Trace) -> None:
        """Print a line on standard error if something is wrong with the trace."""
        self.mention(remarks(trace))

    def mention_choice(self, trace: Trace) -> None:
        """Print a line on standard error if only some ranks were read."""
        from analyzer.trace.chosen import choice_named

        if said := choice_named(trace):
            self.mention([f"{Path(trace.path).name}: {said}"])

    @contextmanager
    def step(self, label: str) -> Iterator[Callable[[str], None]]:
        """Show what is being done, on a terminal only. Yields a function that shows the progress."""
        if not label or not self.alone or self.quiet or not sys.stderr.isatty():
            yield lambda text: None
            return
        from rich.console import Console

        with Console(stderr=True).status(label) as status:
            yield lambda text: status.update(f"{label}: {text}")


def _write(text: str) -> None:
    """Write lines on standard output. A reader that has gone away (`| head`) is no error: the files are written."""
    try:
        click.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
