"""Options, opening of runs and start of workers for commands that replay runs on many machines."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.shared.options import LazyChoice, jobs_option, rare_option
from analyzer.errors import TracelibError
from analyzer.signal_handling import EndRequested, die

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.montecarlo.results_file import JobJournal


_OPTIONS = (
    click.option(
        "--vary",
        "texts",
        multiple=True,
        metavar="NAME=VALUES",
        help="Parameter and its values: latency=1us..100us, log:1us..100us, gaussian:1,0.1 or exponential:1us,5us.",
    ),
    click.option(
        "-n",
        "--samples",
        type=click.IntRange(1),
        default=100,
        show_default=True,
        metavar="N",
        help="Number of machines to draw.",
    ),
    rare_option(
        "--design",
        type=LazyChoice("analyzer.montecarlo.distribution", "DESIGNS"),
        default="random",
        show_default=True,
        help="Method by which machines are drawn.",
    ),
    jobs_option,
)


def study_options(command: Callable) -> Callable:
    """Add --vary, --samples, --design and --jobs to a command, which gets them as `draw`."""

    @wraps(command)
    def with_draw(*args: Any, texts: tuple[str, ...], samples: int, design: str, jobs: int | None, **given: Any) -> Any:
        from analyzer.results.monte_carlo import Draw, variations

        return command(*args, draw=Draw(variations(texts), samples, design, jobs), **given)

    for option in reversed(_OPTIONS):
        with_draw = option(with_draw)
    return with_draw


def output_options(help_: str) -> Callable:
    """Return a decorator that adds -o, with this help text, and -f, which also discards earlier samples."""

    def decorate(command: Callable) -> Callable:
        command = click.option(
            "-f", "--force", is_flag=True, help="Replace existing files, and start the samples anew."
        )(command)
        return click.option("-o", "--output", type=click.Path(), help=help_)(command)

    return decorate


@contextmanager
def says_when_ended(path: Path | None, book: JobJournal | None) -> Iterator[None]:
    """Write on standard error how to continue, if this process is ended by its user or by a launcher.

    Launchers end a process when another process dies.

    Args:
        path: File of the samples. None: there is none.
        book: Samples so far. None: this process does not lead the study.
    """

    def say(text: str) -> None:
        hint = f"the same command goes on from {path}" if path else "with -o NAME the same command could go on"
        os.write(2, f"{text} after {len(book or ())} replays ({hint})\n".encode())

    def ended(number: int, _frame: FrameType | None) -> None:
        say(f"Error: ended by {signal.Signals(number).name}")
        die(number)

    if book is None or current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, ended)
    try:
        yield
    except EndRequested:
        say("Ended")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def numbers(text: str | None, count: int, option: str) -> list[float] | None:
    """Read one number above 0 for each run from a text, separated by commas.

    Args:
        text: The text. None: the option was not given.
        count: Number of runs.
        option: Name of the option, for errors.

    Raises:
        TracelibError: The text has other numbers.
    """
    if text is None:
        return None
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = []
    if len(found) != count or not all(0 < number < float("inf") for number in found):
        how = f"give {count} of them, separated by commas" if count > 1 else "give one"
        raise TracelibError(f"{option} {text}: expected one number above 0 for each run", how)
    return found
