"""Gain of a run from faster computation: as tables, in sentences, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyzer.report.words import units
from analyzer.report.words.eager import Eager
from analyzer.report.words.left_out import incomplete_line
from analyzer.report.words.replays import basis_phrase, basis_text
from analyzer.report.words.table import plain_table
from analyzer.what_if.scaled_replays import WhatIf

LEAST = 0.005
"""Share of the time below which a gain does not count."""


@dataclass(frozen=True)
class WhatIfReport:
    """Replays of a run with faster computation in some parts, with their conditions.

    Attributes:
        measured_ns: Measured time of the run; 0: the trace has no times.
        machine, ranks: The machine and the faster ranks, in words.
        found: One result, or one for each part that takes no time (`each`).
        cpu_time: Bursts are CPU time (True), wall-clock time (False), or as in a Dimemas trace (None).
        lacking: Parts of the run that are missing, in one line.
    """

    file: str
    measured_ns: int  # 0: the trace has no times
    machine: str  # in words
    eager: Eager
    ranks: str  # the faster ranks, in words
    found: Sequence[WhatIf]
    each: bool
    cpu_time: bool | None = False  # see Attributes
    lacking: str = ""  # parts of the run that are missing, in one line


def print_what_if(asked: WhatIfReport, console: Console) -> None:
    """Print the replayed time before and after, or a table of all parts, and what it means."""
    measured = f"{units.time(asked.measured_ns)} as measured; " if asked.measured_ns else ""
    if not asked.found:
        console.print(f"{Path(asked.file).name}: {measured}no part of the run computes.", markup=False)
        return
    replayed = (
        f"{units.time(asked.found[0].before_ns)} replayed {basis_phrase(cpu_time=asked.cpu_time)} on {asked.machine}"
    )
    console.print(f"{Path(asked.file).name}: {measured}{replayed}", markup=False)
    console.print("All times and shares below are of the replay.")
    console.print(asked.eager.text)
    console.print()
    console.print(_each(asked) if asked.each else _one(asked.found[0], asked.ranks))
    console.print()
    console.print(Text(" ".join(_words_of_each(asked) if asked.each else _words(asked.found[0]))))
    if asked.each and (found := best(asked)):
        twice = f'Next, twice as fast: analyze what-if {asked.file} --region "{found.names[0]}"'
        console.print(twice, soft_wrap=True)
    if asked.lacking:
        console.print(incomplete_line(asked.lacking), markup=False)


def _one(found: WhatIf, ranks: str) -> Table:
    table = plain_table("", "time", "gain", "share", "Amdahl's rule", "gain")
    scaled = ", ".join(f"{name} x {factor:g}" for name, factor in zip(found.names, found.factors, strict=True))
    table.add_row("As it is", units.time(found.before_ns), "", "", "", "")
    free = ("If it took no time", found.free_ns, found.amdahl_free_ns)
    for label, after, amdahl in ((f"{scaled}{ranks}", found.after_ns, found.amdahl_ns), free):
        gain, promised = found.before_ns - after, found.before_ns - amdahl
        share = units.percent(gain / found.before_ns) if found.before_ns else ""
        table.add_row(Text(label), units.time(after), _signed(gain), share, units.time(amdahl), _signed(promised))
    return table


def _signed(ns: float) -> str:
    return f"-{units.time(-ns)}" if ns < 0 else units.time(ns)


def _words(found: WhatIf) -> Iterator[str]:
    inside = units.percent(found.share)
    these = "These parts are" if len(found.names) > 1 else "This part is"
    yield f"{these} {inside} of all computation ({units.time(found.inside_ns)} of all ranks together)."
    elasticity = found.elasticity
    if elasticity is None:
        yield (
            "Nothing was changed."
            if found.inside_ns
            else "No main thread computes there, and other threads do not count."
        )
        return
    length = f"{abs(elasticity):.2f} % {_direction(elasticity)}"
    yield f"Elasticity {elasticity:.2f}: with 1 % less computation there the run becomes {length}."
    promised, gained = found.before_ns - found.amdahl_ns, found.gain_ns
    if found.saved > 0 and gained < promised - LEAST * found.before_ns:
        yield "Amdahl's rule promises more: the run then waits for other ranks or for the network."
    elif found.saved > 0 and gained > promised + LEAST * found.before_ns:
        yield "That is more than Amdahl's rule promises: other ranks wait for this part."


def _direction(elasticity: float) -> str:
    return "shorter" if elasticity >= 0 else "longer"


def _each(asked: WhatIfReport) -> Table:
    table = plain_table(f"If this took no time{asked.ranks}", "computing", "share", "time", "gain", "of replay")
    for found in asked.found:
        gain = found.before_ns - found.free_ns
        of_run = units.percent(gain / found.before_ns) if found.before_ns else ""
        computing = units.time(found.inside_ns), units.percent(found.share)
        table.add_row(Text(found.names[0]), *computing, units.time(found.free_ns), _signed(gain), of_run)
    return table


def best(asked: WhatIfReport) -> WhatIf | None:
    """Return the part whose computation is most worth making faster. None: no part alone gains anything.

    A part that is nearly the whole program is skipped.
    """
    parts = [found for found in asked.found if not found.is_trivial]
    gains = [found for found in parts if found.before_ns - found.free_ns > LEAST * found.before_ns]
    return gains[0] if gains else None


def _words_of_each(asked: WhatIfReport) -> Iterator[str]:
    whole = [found for found in asked.found if found.is_trivial]
    for one in whole:
        outside = one.inside_ns - one.inner_ns
        more = f"; {units.percent(outside / one.inside_ns)} of its computation is in no region inside it"
        named = more if outside > one.inner_ns else ""
        yield f"{one.names[0]} is nearly the whole program, so what it gains says little{named}."
    found = best(asked)
    if found is None:
        yield "No part alone makes the run shorter: the run then waits for another part or for the network."
        if whole:
            yield "More regions inside it would show which computation matters."
        return
    name, gain = found.names[0], found.before_ns - found.free_ns
    share = units.percent(gain / found.before_ns)
    yield (
        f"Most worth making faster: {name}. If it took no time, the replay would be {units.time(gain)} ({share}) "
        "shorter; no speed-up of it can gain more."
    )
    most = max((one for one in asked.found if not one.is_trivial), key=lambda one: one.inside_ns)
    if most is not found:
        less = units.percent((most.before_ns - most.free_ns) / most.before_ns)
        yield f"{most.names[0]}, which has most computation, would save at most {less}."


def what_if_json(asked: WhatIfReport) -> dict[str, Any]:
    """Return the result for JSON. Times are in s, factors are fractions."""
    measured = asked.measured_ns / 1e9 if asked.measured_ns else None
    head: dict[str, Any] = {"file": asked.file, "measured_s": measured, "machine": asked.machine}
    head["replayed_by"] = basis_text(cpu_time=asked.cpu_time)
    head["eager"] = asked.eager.as_json()
    head["incomplete"] = asked.lacking
    rows = [_json(found) for found in asked.found]
    if asked.each:
        found = best(asked)
        return head | {"best": found.names[0] if found else None, "each_free": rows}
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
