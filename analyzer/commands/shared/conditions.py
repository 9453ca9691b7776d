"""`--fail-if` and `--badge`: a verdict for continuous integration."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.shared.options import rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_replaceable

if TYPE_CHECKING:
    from analyzer.report.badge import Badge

EXAMPLE = "such as 'efficiency < 0.9'"
"""Hint with an example of a condition."""
_WRONG = 2
"""Exit code if a condition cannot be judged. If a condition holds, the exit code is 1."""
_PERCENT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*%(?=\s*(?:$|[)<>=!,]|and\b|or\b))")
"""Number with a per cent sign that is not followed by another operand; then the sign would be a remainder."""
_NAME = re.compile(r"\W+")


@dataclass(frozen=True)
class Conditions:
    """Conditions of --fail-if, and the file of --badge, as the user gave them.

    Attributes:
        texts: Expressions. The command fails if one of them holds.
        badge: Path of the badge. None: no badge is written.
    """

    texts: tuple[str, ...] = ()
    badge: Path | None = None

    @property
    def asked(self) -> bool:
        """True if a condition or a badge was asked for."""
        return bool(self.texts or self.badge)

    def check_files(self, sources: Sequence[Path], force: bool = False) -> None:
        """Raise TracelibError if the badge would replace one of the `sources`, or a file of another program.

        With `force`, files of other programs may be replaced.
        """
        if self.badge:
            check_replaceable(self.badge, list(sources), force)

    def judge(
        self, session: Session, data: Mapping[str, Any], short: Mapping[str, Any], badge: Callable[[], Badge]
    ) -> None:
        """Judge the conditions, write the badge, and end the command with exit code 1 if a condition holds.

        Each condition that holds gives one line on standard error.

        Args:
            session: Session of the command.
            data: Content of --json. Nested names are joined by dots.
            short: Further names and their values.
            badge: Function that makes the badge.

        Raises:
            TracelibError: A condition cannot be judged.
        """
        failed = [one for one in (_judged(text, data, short) for text in self.texts) if one]
        if self.badge and session.speaks:
            _write(self.badge, badge(), failed=bool(failed))
        if session.speaks:
            for line in failed:
                click.echo(f"Failed: {line}", err=True)
        if failed:
            click.get_current_context().exit(1)


def condition_options(command: Callable) -> Callable:
    """Add --fail-if and --badge to a command, which gets both as `conditions`."""

    @wraps(command)
    def with_conditions(*args: Any, fail_if: tuple[str, ...], badge: str | None, **given: Any) -> Any:
        path = Path(badge) if badge else None
        if path and path.suffix.lower() not in (".svg", ".json"):
            raise click.UsageError(f"--badge: {badge} ends neither in .svg nor in .json")
        return command(*args, conditions=Conditions(fail_if, path), **given)

    with_conditions = rare_option(
        "--badge",
        type=click.Path(),
        metavar="FILE",
        help="Write the verdict into this .svg file, or .json file for shields.io.",
    )(with_conditions)
    return click.option(
        "--fail-if", multiple=True, callback=_checked, metavar="CONDITION", help="Exit with 1 if this condition holds."
    )(with_conditions)


def _checked(ctx: click.Context, _: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a text that is no expression before anything is computed."""
    for text in texts:
        try:
            ast.parse(_plain(text), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise click.UsageError(f"--fail-if: {text!r} is no condition, {EXAMPLE}", ctx) from error
    return texts


def _plain(text: str) -> str:
    """Replace percentages by numbers: 5 % becomes (5/100)."""
    return _PERCENT.sub(r"(\1/100)", text).strip()


def _judged(text: str, data: Mapping[str, Any], short: Mapping[str, Any]) -> str:
    """Return the condition with its values if it holds. "": it does not."""
    import pandas

    from analyzer.experiments.expression import chosen

    plain = _plain(text)
    known = dict(flat(data)) | dict(short)
    values = {name: _value(name, known, text) for name in dict.fromkeys(_names(ast.parse(plain, mode="eval").body))}
    frame = pandas.DataFrame({name: [value] for name, value in values.items()}, index=[0])
    try:
        holds = bool(chosen(plain, frame)[0])
    except TracelibError as error:
        raise TracelibError(f"--fail-if: {error}", EXAMPLE, _WRONG) from error
    said = ", ".join(
        f"{name} is {value:.4g}" if isinstance(value, float) else f"{name} is {value}" for name, value in values.items()
    )
    return f"{text.strip()}" + (f" ({said})" if said else "") if holds else ""


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names in an expression, also dotted names, but no functions."""
    if isinstance(node, ast.Name | ast.Attribute):
        yield ast.unparse(node)
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Call) and child is node.func):
            yield from _names(child)


def _value(name: str, known: Mapping[str, Any], text: str) -> Any:
    if name not in known:
        close = get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "the names are those of --json, joined by dots"
        raise TracelibError(f"--fail-if: {text!r}: there is no {name}", hint, _WRONG)
    if known[name] is None:
        raise TracelibError(f"--fail-if: {text!r}: {name} is not known", exit_code=_WRONG)
    return known[name]


def flat(data: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield numbers and texts of nested dicts by name. Nested names are joined by dots.

    A character that a name in an expression cannot have becomes an underscore.
    """
    for key, value in data.items():
        name = before + _NAME.sub("_", str(key))
        if isinstance(value, Mapping):
            yield from flat(value, f"{name}.")
        elif value is None or isinstance(value, bool | int | float | str):
            yield name, value


def _write(path: Path, badge: Badge, *, failed: bool) -> None:
    from analyzer.atomic_file import whole_file
    from analyzer.report.badge import BAD, content

    with whole_file(path) as file:
        file.write(content(replace(badge, colour=BAD) if failed else badge, path))
