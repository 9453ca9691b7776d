"""Many ranks in a few rows: groups of ranks that behave alike, outliers, and lines that differ only in numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.metrics.clusters import Outlier, RankClusters, RankMeasure, groups_of
from analyzer.report.words import units
from analyzer.report.words.table import plain_table
from analyzer.trace.description import ranks_named, ranks_text

FEW = 16
"""Largest number of ranks or lines that a table lists one by one."""
MOST_OUTLIERS = 4
TITLE = "Ranks that behave alike (mean of each; the typical rank is nearest to it)"
_TEXTS = {"time": lambda ns: units.time(ns, ""), "bytes": lambda size: units.size(size, "")}
_RANK = re.compile(r"rank (\d+): (.*)", re.DOTALL)
_NUMBER = re.compile(r"(?<!\w:)(?<!\d)\d+(\.\d+)?")
"""A number in a line. The line number of a file does not count: things at different places are different."""


@dataclass(frozen=True)
class AlikeRanks:
    """Groups of ranks that behave alike, with the measures by which they were grouped."""

    columns: Sequence[RankMeasure]
    found: RankClusters

    def table(self) -> Table:
        """Make a table with a row for each group."""
        table = plain_table("ranks alike", "number", "typical", *self.found.columns)
        for group in self.found.groups:
            texts = (_text(column, mean) for column, mean in zip(self.columns, group.means, strict=True))
            table.add_row(ranks_text(group.ranks.tolist()), str(len(group.ranks)), str(group.typical), *texts)
        return table

    def lines(self) -> list[str]:
        """Describe the ranks that are in no group, and how far they differ from the nearest group."""
        outliers = self.found.outliers
        said = [self._outlier(one) for one in outliers[:MOST_OUTLIERS]]
        rest = sorted(one.rank for one in outliers[MOST_OUTLIERS:])
        if rest:
            said.append(f"{units.plural(len(rest), 'more rank stands', 'more ranks stand')} out: {ranks_text(rest)}")
        return said

    def _outlier(self, one: Outlier) -> str:
        column, group = self.columns[one.column], self.found.groups[one.group]
        value, mean = _text(column, one.value), _text(column, one.of_group)
        times = f"{one.value / one.of_group:.3g} times" if one.of_group and one.value else "against"
        return f"rank {one.rank} stands out: {column.name} {value}, {times} the {mean} of ranks like {group.typical}"


def _text(column: RankMeasure, value: float) -> str:
    return _TEXTS.get(column.unit, units.count)(value)


def alike_ranks(ranks: np.ndarray, *columns: RankMeasure) -> AlikeRanks | None:
    """Group ranks that behave alike by measures with one value per rank. None: at most FEW ranks."""
    if len(ranks) <= FEW:
        return None
    return AlikeRanks(columns, groups_of(np.asarray(ranks, np.int64), columns))


def print_alike(found: AlikeRanks | None, console: Console, indent: int = 2) -> None:
    """Print groups of ranks as a section. None prints nothing."""
    if found is None:
        return
    console.print()
    console.print(Text(TITLE, style="bold"))
    console.print(Padding(found.table(), (0, 0, 0, indent)))
    for line in found.lines():
        console.print(Padding(Text(line), (0, 0, 0, indent)))


def few_lines(lines: Sequence[str], most: int, rest: str = "") -> list[str]:
    """Shorten a list of lines to at most `most` + 1 lines.

    If there are more, lines that differ only in numbers become one line with their number and their ranks. `rest` is
    appended to the last line; it says where all lines are.
    """
    if len(lines) <= most:
        return list(lines)
    kinds: dict[str, list[str]] = {}
    for line in lines:
        kinds.setdefault(_NUMBER.sub("#", line), []).append(line)
    said = [_of_kind(kind) for kind in kinds.values()]
    more = sum(map(len, list(kinds.values())[most:]))
    return [*said[:most], *([f"and {more} more{rest}"] if more else [])]


def _of_kind(lines: Sequence[str]) -> str:
    if len(lines) == 1:
        return lines[0]
    found = [match for line in lines if (match := _RANK.fullmatch(line))]
    ranks = sorted({int(match[1]) for match in found})
    if len(found) < len(lines) or len(ranks) < 2:
        return f"{lines[0]} (and {len(lines) - 1} more like this)"
    who = f"{ranks_named(ranks)} ({units.plural(len(ranks), 'rank')})"
    texts = {match[2] for match in found}
    return f"{who}: {found[0][2]}" if len(texts) == 1 else f"{who}, such as {lines[0]}"
