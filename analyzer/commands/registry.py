"""All commands of `analyze`: files of the folders here, and entry points of other packages.

A folder is a group, and a file is a command, whose name has - for _. A file that begins with _ is a part of one. A
command is imported when it is used: all of them together only for `analyze --help`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError
from analyzer.plugins import entry_points

if TYPE_CHECKING:  # click is imported by who asks for a command
    from analyzer.commands.command import Command

ENTRY_POINTS = "tracelib.commands"
"""Group of entry points: a name of a command, and where the package has it."""

FIRST = ("look", "waits", "view", "report", "diff")
"""Commands to begin with."""

GROUPS = {
    "look": "Look closer",
    "explain": "Explain",
    "predict": "Predict",
    "convert": "Convert",
    "model": "Many runs: tables and formulas",
    "network": "The network",
    "cluster": "Sharing work, and batch schedulers",
}
"""Folders, and their headings in `analyze --help`, in its order."""

RENAMED: dict[str, tuple[str, ...]] = {"info": ("look", "--no-files")}
"""Old names of commands, and the words that stand for them now."""


@cache
def places() -> dict[str, str]:
    """Return the group of each command of this package, in the order of groups."""
    folder = Path(__file__).parent
    files = {group: sorted((folder / group).glob("*.py")) for group in GROUPS}
    return {
        path.stem.replace("_", "-"): group
        for group, paths in files.items()
        for path in paths
        if not path.stem.startswith("_")
    }


def names() -> list[str]:
    """Return the names of all commands, with other packages' commands last."""
    return [*places(), *(name for name in entry_points(ENTRY_POINTS) if name not in places())]


def find(name: str) -> Command | None:
    """Return a command, or None if there is none of this name.

    Raises:
        TracelibError: Another package names it, and it cannot be imported from there.
    """
    from analyzer.commands.command import Command

    if name in places():
        stem = name.replace("-", "_")
        module = import_module(f"analyzer.commands.{places()[name]}.{stem}")
        return next(one for one in vars(module).values() if isinstance(one, Command) and one.name == name)
    entry = entry_points(ENTRY_POINTS).get(name)
    if entry is None:
        return None
    try:
        found = entry.load()
    except Exception as error:
        raise _broken(entry, f"{type(error).__name__}: {error}") from error
    if not isinstance(found, Command):
        raise _broken(entry, "it is not made by analyzer.commands.command.command")
    return found


def _broken(entry: object, why: str) -> TracelibError:
    package = entry.dist.name if entry.dist else "a package"  # type: ignore[attr-defined]
    said = f"the command {entry.name} of {package} cannot be used: {' '.join(why.split())}"  # type: ignore[attr-defined]
    return TracelibError(said, f"it names {entry.value}")  # type: ignore[attr-defined]


def commands() -> tuple[dict[str, Command], list[TracelibError]]:
    """Import all commands. Returns them by name, and what is wrong with some of other packages."""
    found, wrong = {}, []
    for name in names():
        try:
            if made := find(name):
                found[name] = made
        except TracelibError as error:
            wrong.append(error)
    return found, wrong


def title_of(name: str, made: Command) -> str:
    """Return the title that a command is listed under; "More" for a group that is not known."""
    return GROUPS.get(places().get(name) or made.spec.group, "More")
