"""All commands of `analyze`: files of the folders here, and entry points of other packages.

A folder is a group, and a file is a command, whose name has - for _. A file that begins with _ is a part of one. A
command is imported when it is used. `analyze --help` reads the summaries from the files' texts, because importing all
files takes longer than its other work.
"""

from __future__ import annotations

import re
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


def is_known(name: str) -> bool:
    """Return True if there is a command of this name. Asks other packages only where this one has none."""
    return name in places() or name in entry_points(ENTRY_POINTS)


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


_SUMMARY = re.compile(r'^@command\(\s*"([^"\\]+)"', re.MULTILINE)


def summaries() -> tuple[dict[str, dict[str, str]], list[TracelibError]]:
    """Read when to take each command, without importing the commands of this package.

    Returns:
        For each title of `analyze --help`, in its order, the summaries by the commands' names; and what is wrong with
        commands of other packages.
    """
    found: dict[str, dict[str, str]] = {title: {} for title in ("Start here", *GROUPS.values())}
    wrong = []
    for name in (*FIRST, *(name for name in names() if name not in FIRST)):
        try:
            title, summary = _title_and_summary(name)
        except TracelibError as error:
            wrong.append(error)
            continue
        found.setdefault("Start here" if name in FIRST else title, {})[name] = summary
    return {title: group for title, group in found.items() if group}, wrong


def _title_and_summary(name: str) -> tuple[str, str]:
    """Return the title that a command is listed under ("More" for a group that is not known), and its summary."""
    group = places().get(name)
    if group:
        text = (Path(__file__).parent / group / f"{name.replace('-', '_')}.py").read_text()
        if written := _SUMMARY.search(text):
            return GROUPS[group], written[1]
    made = find(name)
    assert made is not None
    return GROUPS.get(group or made.spec.group, "More"), made.spec.summary
