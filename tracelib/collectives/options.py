"""Options of `python -m tracelib.ngmpi` for the measurement of collectives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from tracelib.collectives.design import NATIVE, CollectiveDesign
from tracelib.collectives.trees import ALGORITHMS
from tracelib.command_line import Option
from tracelib.errors import TracelibError
from tracelib.settings import size_bytes

KIB = 1024
SIZES = tuple(k * KIB for k in (2, 4, 6, 8, 10, 12, 14, 16))
SEGMENTS = (0, KIB, 2 * KIB, 4 * KIB, 8 * KIB)
"""Default sizes and segments in bytes. 0: a whole message. Source: Rodriguez 2011, table 4.2."""
MOST_RANKS = 10
"""Up to this number of ranks, collectives are measured on 2, 3, ...
ranks; above it, on powers of two and on all ranks."""
_MOST_BYTES = (1 << 31) - 1
_NAMES = ("collective", "broadcast", "over", "sizes", "segments", "iterations", "repeat")


class _Words(click.ParamType):
    """Type of an option: known words, separated by commas."""

    name = "name,..."

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known

    def convert(self, value: object, param: object, context: object) -> tuple[str, ...]:
        words = str(value).split(",")
        for word in words:
            if word not in self._known:
                raise TracelibError(f"cannot time {word!r}", f"choose from {', '.join(self._known)}")
        return tuple(dict.fromkeys(words))


class _Sizes(click.ParamType):
    """Type of an option: sizes in bytes, separated by commas."""

    name = "size,..."

    def __init__(self, least: int) -> None:
        self._least = least

    def convert(self, value: object, param: object, context: object) -> tuple[int, ...]:
        return tuple(size_bytes(word, self._least, _MOST_BYTES) for word in str(value).split(","))


class _Counts(click.ParamType):
    """Type of an option: whole numbers, separated by commas."""

    name = "n,..."

    def convert(self, value: object, param: Any, context: object) -> tuple[int, ...]:
        words = str(value).split(",")
        if not all(word.isdecimal() for word in words):
            raise TracelibError(f"{param.opts[0]} {value}: expected whole numbers", "write them as 2,4,8")
        return tuple(map(int, words))


def collective_options(command: Callable) -> Callable:
    """Add the options to a click command. Give the options to `design_of`."""
    for option in reversed(
        (
            click.option(
                "--collective",
                type=_Words(NATIVE),
                metavar="NAME,...",
                help="Time MPI's own collectives, too: bcast,scatter.",
            ),
            click.option(
                "--broadcast",
                type=_Words(ALGORITHMS),
                metavar="NAME,...",
                help="Time broadcasts along these trees: linear,pipeline,binary,binomial.",
            ),
            click.option(
                "--over",
                type=_Counts(),
                metavar="N,...",
                show_default="2 to all",
                help="Numbers of ranks that take part, such as 2,4.",
            ),
            click.option(
                "--bytes",
                "sizes",
                type=_Sizes(1),
                metavar="SIZE,...",
                show_default="2K,4K,... to 16K",
                help="Bytes for each rank.",
            ),
            click.option(
                "--segments",
                type=_Sizes(0),
                metavar="SIZE,...",
                cls=Option,
                rare=True,
                show_default="0,1K,2K,4K,8K",
                help="Sizes of the segments of a broadcast (0: one piece).",
            ),
            click.option(
                "--iterations",
                type=click.IntRange(1),
                default=100,
                show_default=True,
                cls=Option,
                rare=True,
                metavar="N",
                help="Number of iterations of each loop.",
            ),
            click.option(
                "--repeat",
                type=click.IntRange(1),
                default=3,
                show_default=True,
                cls=Option,
                rare=True,
                metavar="N",
                help="Number of times that everything is measured.",
            ),
        )
    ):
        command = option(command)
    return command


def design_of(world: int, said: dict[str, Any]) -> tuple[CollectiveDesign | None, dict[str, Any]]:
    """Make a design of measurements from the options of a command.

    Args:
        world: Number of ranks of the world.
        said: All options of the command, by name.

    Returns:
        The design (None: no collectives are to be measured), and the options that are not about collectives.

    Raises:
        TracelibError: The design cannot be measured.
    """
    others = dict(said)
    asked = {name: others.pop(name) for name in _NAMES}
    names = (*(asked["collective"] or ()), *(asked["broadcast"] or ()))
    if not names or world < 2:  # one rank alone is told so by others
        return None, others
    over, sizes, segments = (
        asked["over"] or default_ranks(world),
        asked["sizes"] or SIZES,
        asked["segments"] or SEGMENTS,
    )
    design = CollectiveDesign(names, over, sizes, segments, asked["iterations"], asked["repeat"])
    design.check(world)
    return design, others


def default_ranks(world: int) -> tuple[int, ...]:
    """Return the numbers of ranks on which collectives are measured: 2 to `world`, or powers of two and `world`."""
    if world <= MOST_RANKS:
        return tuple(range(2, world + 1))
    return *(1 << bit for bit in range(1, (world - 1).bit_length())), world
