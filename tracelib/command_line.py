"""Classes of commands and options with one form of help, options that only --help-all shows, and former names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

_ALL = "tracelib.help_all"
_METAVARS = {"INTEGER RANGE": "N", "INTEGER": "N", "FLOAT RANGE": "X", "FLOAT": "X"}


class Option(click.Option):
    """An option that the first page of help may leave out, and that may have had other names.

    Attributes:
        rare: Whether only --help-all shows it.
        old: Former names, which still work. A name with a value, such as "--by-place place", stands for the option
            with this value.
    """

    def __init__(self, names: Sequence[str], *, rare: bool = False, old: Sequence[str] = (), **more: Any) -> None:
        super().__init__(names, **more)
        self.rare, self.old = rare, tuple(old)

    @property
    def renamed(self) -> dict[str, tuple[str, ...]]:
        """For each former name: the words that stand for it today."""
        now = max(self.opts, key=len)
        return {text.split()[0]: (now, *text.split()[1:]) for text in self.old}


class TracelibCommand(click.Command):
    """Command with one page of common options (--help), and one of all options (--help-all)."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters. If some are rare, --help-all is added."""
        params = super().get_params(ctx)
        if any(isinstance(param, Option) and param.rare for param in params):
            params.append(_help_all())
        return params

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Replace former names of options, with a line on standard error for each."""
        renamed: dict[str, tuple[str, ...]] = {}
        for param in self.params:
            renamed |= param.renamed if isinstance(param, Option) else {}
        return super().parse_args(ctx, _todays_words(ctx, args, renamed))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line for each option: names and value, meaning, and remarks such as the default."""
        records = [record for param in self.get_params(ctx) if (record := _help_record(param, ctx))]
        if records:
            with formatter.section("Options"):
                formatter.write_dl(records)


def _todays_words(ctx: click.Context, args: list[str], renamed: dict[str, tuple[str, ...]]) -> list[str]:
    words: list[str] = []
    ours = args.index("--") if "--" in args else len(args)
    for word in args[:ours]:
        name, is_assigned, value = word.partition("=")
        if name not in renamed:
            words.append(word)
            continue
        if getattr(ctx.obj, "speaks", True):
            click.echo(f"{ctx.command_path}: {name} is now {' '.join(renamed[name])}", err=True)
        words += [*renamed[name], *([value] if is_assigned else [])]
    return words + args[ours:]


def _help_record(param: click.Parameter, ctx: click.Context) -> tuple[str, str] | None:
    """Return the line of an option in the help. None: this page leaves it out."""
    record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
    if record is None:
        return None
    if isinstance(param, Option) and param.rare and not ctx.meta.get(_ALL):
        return None
    assert isinstance(param, click.Option)
    names = record[0]
    for metavar, short in _METAVARS.items():
        if names.endswith(f" {metavar}"):
            names = names.removesuffix(metavar) + short
    remarks = "; ".join(_remarks(param))
    return names, f"{param.help or ''}  [{remarks}]" if remarks else param.help or ""


def _remarks(option: click.Option) -> list[str]:
    remarks = []
    if isinstance(option.show_default, str):
        remarks.append(f"default: {option.show_default}")
    elif option.show_default:
        values = option.default if isinstance(option.default, list | tuple) else (option.default,)
        remarks.append(f"default: {','.join(str(getattr(value, 'value', value)) for value in values)}")
    number = option.type
    if isinstance(number, click.IntRange) and number.max is not None:
        remarks.append(f"{number.min} to {number.max}")
    if option.required:
        remarks.append("required")
    if option.multiple:
        remarks.append("can be repeated")
    return remarks


def _help_all() -> click.Option:
    """Return --help-all, which shows rare options, too."""

    def show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            click.echo(ctx.get_help())
            ctx.exit()

    return click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show,
        help="Show this message with all options, and exit.",
    )  # fmt: skip
