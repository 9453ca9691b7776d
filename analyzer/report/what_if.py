"""What a run would gain from faster computation, as tables, in words, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyzer.report import units
from analyzer.report.eager import Eager
from analyzer.report.plain import plain_table
from analyzer.what_if.scaled import WhatIf

LEAST = 0.005
"""Gains below this share of the time are none."""


@dataclass(frozen=True)
class Asked:
    """A run, what was asked of it, and what was found: of one question, or of each part if it were free."""

    file: str
    measured_ns: int  # 0: it has no times of its own
    machine: str  # in words
    eager: Eager
    ranks: str  # that would be faster, in words
    found: Sequence[WhatIf]
    each: bool
    lacking: str = ""  # of the run, in one line


def print_what_if(asked: Asked, console: Console) -> None:
    """The replayed time before and after, or the table of all parts, and what it says."""
    if asked.measured_ns:
        console.print(f"{Path(asked.file).name}: {units.time(asked.measured_ns)} as measured", markup=False)
    if not asked.found:
        console.print("\nNo part of it computes anything.")
        return
    before = asked.found[0].before_ns
    console.print(f"Replayed on {asked.machine}: {units.time(before)}", markup=False)
    console.print(asked.eager.text)
    console.print()
    console.print(_each(asked) if asked.each else _one(asked.found[0], asked.ranks))
    console.print()
    console.print(Text(" ".join(_words_of_each(asked) if asked.each else _words(asked.found[0]))))
    if asked.lacking:
        console.print(f"But {asked.lacking}: this is not a replay of the whole run.", markup=False)


def _one(found: WhatIf, ranks: str) -> Table:
    table = plain_table("", "time", "gain", "share", "Amdahl's rule", "gain")
    scaled = ", ".join(f"{name} x {factor:g}" for name, factor in zip(found.names, found.factors, strict=True))
    table.add_row("As it is", units.time(found.before_ns), "", "", "", "")
    rows = ((f"{scaled}{ranks}", found.after_ns, found.amdahl_ns), ("If free", found.free_ns, found.amdahl_free_ns))
    for label, after, amdahl in rows:
        gain, promised = found.before_ns - after, found.before_ns - amdahl
        share = units.percent(gain / found.before_ns) if found.before_ns else ""
        table.add_row(Text(label), units.time(after), _signed(gain), share, units.time(amdahl), _signed(promised))
    return table


def _signed(ns: float) -> str:
    return f"-{units.time(-ns)}" if ns < 0 else units.time(ns)


def _words(found: WhatIf) -> Iterator[str]:
    inside = units.percent(found.share)
    yield f"{inside} of all computation ({units.time(found.inside_ns)} of all ranks together) is there."
    elasticity = found.elasticity
    if elasticity is None:
        yield (
            "Nothing of it was changed."
            if found.inside_ns
            else "No main thread computes there, and others do not count."
        )
        return
    yield f"Elasticity {elasticity:.2f}: 1 % less of it makes the run {abs(elasticity):.2f} % {_direction(elasticity)}."
    promised, gained = found.before_ns - found.amdahl_ns, found.gain_ns
    if found.saved > 0 and gained < promised - LEAST * found.before_ns:
        yield "Amdahl's rule promises more: other ranks, or the network, are waited for instead."
    elif found.saved > 0 and gained > promised + LEAST * found.before_ns:
        yield "That is more than Amdahl's rule promises: the others wait for it."


def _direction(elasticity: float) -> str:
    return "shorter" if elasticity >= 0 else "longer"


def _each(asked: Asked) -> Table:
    table = plain_table(f"If this were free{asked.ranks}", "computing", "share", "time", "gain", "of the run")
    for found in asked.found:
        gain = found.before_ns - found.free_ns
        of_run = units.percent(gain / found.before_ns) if found.before_ns else ""
        computing = units.time(found.inside_ns), units.percent(found.share)
        table.add_row(Text(found.names[0]), *computing, units.time(found.free_ns), _signed(gain), of_run)
    return table


def _words_of_each(asked: Asked) -> Iterator[str]:
    best = asked.found[0]
    gain = best.before_ns - best.free_ns
    if gain <= LEAST * best.before_ns:
        yield "No part alone makes the run shorter: each time another is waited for, or the network."
        return
    most = max(asked.found, key=lambda found: found.inside_ns)
    yield (
        f"Most worth making faster: {best.names[0]}, at most {units.percent(gain / best.before_ns)} of the run "
        f"({units.time(gain)})."
    )
    if most is not best:
        less = most.before_ns - most.free_ns
        yield f"{most.names[0]}, where most computation is, would save at most {units.percent(less / most.before_ns)}."


def what_if_json(asked: Asked) -> dict[str, Any]:
    """Seconds and fractions under stable names."""
    measured = asked.measured_ns / 1e9 if asked.measured_ns else None
    head: dict[str, Any] = {"file": asked.file, "measured_s": measured, "machine": asked.machine}
    head["eager"] = asked.eager.as_json()
    head["lacking"] = asked.lacking or None
    rows = [_json(found) for found in asked.found]
    if asked.each:
        return head | {"each_free": rows}
    return head | rows[0]


def _json(found: WhatIf) -> dict[str, Any]:
    return {
        "parts": [{"name": n, "factor": f} for n, f in zip(found.names, found.factors, strict=True)],
        "before_s": found.before_ns / 1e9,
        "after_s": found.after_ns / 1e9,
        "gain_s": found.gain_ns / 1e9,
        "free_s": found.free_ns / 1e9,
        "elasticity": found.elasticity,
        "computing_s": found.computing_ns / 1e9,
        "inside_s": found.inside_ns / 1e9,
        "amdahl_s": found.amdahl_ns / 1e9,
        "amdahl_free_s": found.amdahl_free_ns / 1e9,
    }
