"""Parts of a run that will take a growing share of its time: in sentences, as a table, and for JSON."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.text import Text

from analyzer.experiments.columns import RANKS
from analyzer.experiments.growth import REST_KIND, TimeGrowth, TimePart
from analyzer.experiments.kinds import BURST_KIND, CLUSTER_KIND, REGION_KIND
from analyzer.models.model import formula_text
from analyzer.report.words.table import plain_table
from analyzer.report.words.units import percent, plural, time

_SHOWN = 15
_SENTENCES = 5
_MATTERS, _GROWS = 0.05, 0.01
"""A part is mentioned if its share will be at least _MATTERS, and will have grown by at least _GROWS."""
_FAR = 16
_SURE = 2.0
"""A share is certain if both ends of its interval are within this factor of it."""


def print_growth(found: TimeGrowth, console: Console) -> None:
    """Print the parts that take a growing share, a table of the largest growths, and reservations."""
    last = found.points[-1]
    console.print(Text(f"{plural(found.runs, 'run')}; largest setting: {_setting(found.largest)}"))
    for point, run_s in zip(found.points, found.run_s, strict=True):
        console.print(Text(f"At {_setting(point)} a rank will take {time(1e9 * run_s)}, now {time(1e9 * found.now_s)}"))
    for sentence in sentences(found):
        console.print(Text(f"\n{sentence}"))
    table = plain_table(f"Part, at {_short(last)}", "share", "now", "time", "grows as")
    for part in found.parts[:_SHOWN]:
        then = part.expected[-1]
        cells = (percent(then.share), percent(part.now_share), time(1e9 * max(then.time.value, 0.0)))
        table.add_row(Text(_name(part)), *cells, part.grows_as or "steady")
    console.print()
    console.print(table)
    if more := found.parts[_SHOWN:]:
        console.print(Text(f"and {plural(len(more), 'part')} whose share grows less (--json)"))
    for note in _doubts(found):
        console.print(Text(f"\n{note}"))


def sentences(found: TimeGrowth) -> list[str]:
    """Name the parts whose share grows most, one sentence each.

    For example "MPI_Allreduce at solve.c:88 will take 41 % of the run at 4096 ranks ...".
    """
    spoken = [part for part in found.parts if _matters(part)]
    if not spoken:
        return [f"No part takes a growing share of the run up to {_setting(found.points[-1])}."]
    return [_sentence(part, found) for part in spoken[:_SENTENCES]]


def _matters(part: TimePart) -> bool:
    then = part.expected[-1]
    if part.kind == REST_KIND or (part.outside and then.time.value <= part.now_s):
        return False
    return then.share >= _MATTERS and part.growth >= _GROWS


def _sentence(part: TimePart, found: TimeGrowth) -> str:
    then = part.expected[-1]
    low, high = then.share_interval
    sure = high <= _SURE * then.share and low >= then.share / _SURE
    how = f"its time grows as {part.grows_as}" if part.grows_as else "its time hardly changes, that of others falls"
    if part.grows_as and then.time.value < part.now_s:
        how = f"its time falls as {part.grows_as}, that of others more"
    return (
        f"{_name(part)} {'will' if sure else 'may'} take {percent(then.share)} of the run at "
        f"{_setting(found.points[-1])} ({percent(low)} to {percent(high)}), now {percent(part.now_share)}: {how}."
    )


def _name(part: TimePart) -> str:
    """Return the name of a part for readers, such as "computing before MPI_Send" or "region solve"."""
    before = {BURST_KIND: "computing before ", REGION_KIND: "region ", CLUSTER_KIND: "computing, "}
    return before.get(part.kind, "") + part.name


def _setting(at: Any) -> str:
    """Return a setting as text, such as "4096 ranks, n = 64"."""
    texts = [f"{value:g} ranks" if name == RANKS else f"{name} = {value:g}" for name, value in at.items()]
    return ", ".join(texts)


def _short(at: Any) -> str:
    return f"{at[RANKS]:g} ranks" if RANKS in at else _setting(at)


def _doubts(found: TimeGrowth) -> list[str]:
    notes = list(found.notes)
    name = found.parameters[0]
    times = found.points[-1][name] / found.largest[name] if found.largest[name] > 0 else math.inf
    if times > _FAR:
        notes.append(f"This is {times:.3g} times the largest {name} measured: take it as a direction, not as a number.")
    return notes


def growth_json(files: list[str], found: TimeGrowth) -> dict[str, Any]:
    """Return all parts with their models and expected shares for JSON. Times are in s."""
    return {
        "files": files,
        "runs": found.runs,
        "parameters": list(found.parameters),
        "largest": dict(found.largest),
        "points": [dict(point) for point in found.points],
        "now_s": found.now_s,
        "run_s": list(found.run_s),
        "parts": [_part_json(part) for part in found.parts],
        "sentences": sentences(found),
        "notes": _doubts(found),
    }


def _part_json(part: TimePart) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "name": part.name,
        "model": formula_text(part.model.selected),
        "terms": part.model.terms,
        "grows_as": part.grows_as,
        "cross_validation_error": _finite(part.model.cross_validation_error),
        "now_s": part.now_s,
        "now_share": part.now_share,
        "growth": part.growth,
        "expected": [
            {
                "time_s": then.time.value,
                "interval_s": [_finite(end) for end in then.time.interval],
                "share": then.share,
                "share_interval": list(then.share_interval),
            }
            for then in part.expected
        ],
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
