"""Phrases for differences: their size, their direction, and whether they are more than noise."""

from __future__ import annotations

from analyzer.differences.figures import Figure, FigureUnit
from analyzer.differences.noise import DifferenceVerdict, SampleOrigin
from analyzer.differences.rows import DifferenceRow
from analyzer.report.words import units

_MANY = 4
"""Relative change from which on it is expressed as a factor."""
_NOTHING = 0.0005
"""Share below which "0.0 %" would be shown."""

SHORT = {
    DifferenceVerdict.MORE: "more than noise",
    DifferenceVerdict.WITHIN: "noise",
    DifferenceVerdict.UNKNOWN: "not known",
    DifferenceVerdict.EXACT: "count",
    DifferenceVerdict.SAME: "the same",
}
"""Short words for verdicts, for a column of tables."""


def value(figure: Figure, of: float | None) -> str:
    """Format a value of a figure with its unit. None (not known): "-"."""
    if of is None:
        return "-"
    if figure.unit is FigureUnit.NS:
        return f"-{units.time(-of)}" if of < 0 else units.time(of)
    if figure.unit is FigureUnit.FRACTION:
        return f"{of:.3f}" if of > 1 else units.percent(of)
    return units.size(of) if figure.unit is FigureUnit.BYTES else units.count(of)


def signed(row: DifferenceRow) -> str:
    """Format a difference with its sign, such as "+1.23 s". Fractions are in points, such as "-5.0". "-": not known."""
    of = row.difference
    if row.before is None or row.after is None:
        return "-"
    sign = "+" if of > 0 else "-" if of < 0 else ""
    if row.figure.unit is FigureUnit.FRACTION and max(row.before, row.after) <= 1:
        return f"{sign}{100 * abs(of):.1f}"
    return f"{sign}{value(row.figure, abs(of))}"


def signed_share(share: float | None) -> str:
    """Format a relative change with its sign, such as "+12.3 %". "": below 0.05 %, or not known."""
    if share is None or abs(share) < _NOTHING:
        return ""
    return f"{'+' if share > 0 else '-' if share < 0 else ''}{units.percent(abs(share))}"


def by_how_much(row: DifferenceRow) -> str:
    """Format the size of a difference, such as "1.23 s (12.3 %)"."""
    return f"{value(row.figure, abs(row.difference))}{in_brackets(row.relative)}"


def in_brackets(relative: float | None) -> str:
    """Format a relative change in brackets, with a leading blank: " (12.3 %)" or " (to 12.3 times as much)".

    "": there was nothing before.
    """
    if relative is None:
        return ""
    return f" (to {1 + relative:.1f} times as much)" if relative >= _MANY else f" ({units.percent(abs(relative))})"


def more_or_less(row: DifferenceRow, more: str, less: str) -> str:
    """Return `more` if a figure has grown, otherwise `less`."""
    return more if row.difference > 0 else less


def sure(row: DifferenceRow) -> str:
    """Say whether a difference is more than noise, such as "more than noise (p < 0.001)"."""
    if row.verdict is DifferenceVerdict.UNKNOWN:
        return f"{DifferenceVerdict.UNKNOWN.value} from one run each" + (f" ({row.why})" if row.why else "")
    reason = row.why or (chance(row.p) if row.p is not None else "")
    return row.verdict.value + (f" ({reason})" if reason else "")


def chance(p: float) -> str:
    """Format a p-value, such as "p = 0.012" or "p < 0.001"."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


BASES = {
    SampleOrigin.REPETITIONS: "Noise is known from repetitions of each (Student's t-test).",
    SampleOrigin.ITERATIONS: (
        "Noise is known from {0} batches of iterations within each run (Mann and Whitney's test). How runs differ from "
        "start to start is not in it: for that, name several runs of each."
    ),
    SampleOrigin.NONE: (
        "Noise is not known: this needs several runs of each, or runs with 8 iterations and more on CPUs of their own. "
        "Name them: analyze diff A1 A2 A3 --against B1 B2 B3."
    ),
}
"""Sentences on how noise is known, by origin of the samples."""
