"""Measured and modelled speedup with its factors: as tables, in sentences, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from analyzer.efficiency.scaling import STRONG
from analyzer.report.words import units
from analyzer.report.words.left_out import ideal_note, left_out_text
from analyzer.report.words.units import file_names
from analyzer.speedup_model.factor_model import NEAR, FactorChange, Speedup, VariantDifference, Variants
from analyzer.speedup_model.factors import SpeedupFactor
from analyzer.speedup_model.parameters import SpeedupParameters

RUNS_SIDE_BY_SIDE = 5
_WIDTH_OF_NAMES = 26
_WIDTH = 78


def factor_text(factor: SpeedupFactor, value: float) -> str:
    """Format a value of a factor with its unit."""
    if factor.is_share:
        return units.percent(value)
    if factor.key == "computation":
        return units.time(value)
    if factor.key == "clock":
        return f"{value:.2f} GHz"
    return units.count(value) if factor.is_amount else f"{value:.3g}"


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def speedup_tables(found: Speedup) -> Iterator[Table | Text]:
    """Yield tables of all runs (RUNS_SIDE_BY_SIDE in each), a sentence for each run, and remarks on the factors."""
    for first in range(0, len(found.runs), RUNS_SIDE_BY_SIDE):
        yield _table(found, found.runs[first : first + RUNS_SIDE_BY_SIDE])
    yield Text("\n".join(sentence(found, run) for run in found.runs[1:]))
    yield Text("\n".join(_notes(found)))


def _table(found: Speedup, runs: tuple[SpeedupParameters, ...]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    names = file_names(run.file for run in found.runs)
    for run in runs:
        name = Text(names[run.file].removesuffix(".gz"))
        table.add_column(name, justify="right", overflow="fold", max_width=(_WIDTH - _WIDTH_OF_NAMES) // len(runs))

    def row(name: str, texts: list[str]) -> None:
        table.add_row(name, *texts)

    row("Ranks", [str(run.ranks) for run in runs])
    if any(run.iterations != 1 for run in runs):
        row("Iterations", [units.count(run.iterations) for run in runs])
        row("Time of an iteration, mean", [units.time(run.period_ns) for run in runs])
    else:
        row("Time", [units.time(run.period_ns) for run in runs])
    row("Speedup, measured", [f"{found.measured(run):.2f}" for run in runs])
    row("Speedup, modelled", [f"{found.modelled(run):.2f}" for run in runs])
    row("= Ranks", [f"{found.linear(run):.2f}" for run in runs])
    for factor in found.factors:
        sign = "x" if factor.in_model else " "
        moved = [found.moved_by(factor, run) for run in runs]
        row(f"{sign} {capital(factor.name)}", [f"{m.quotient:.3f}" for m in moved])
    table.add_section()
    for factor in found.factors:
        moved = [found.moved_by(factor, run) for run in runs]
        row(f"  {factor.name}", [factor_text(factor, m.after) for m in moved])
    return table


def sentence(found: Speedup, run: SpeedupParameters) -> str:
    """Say how a run scales against the reference, and which factor costs most."""
    measured, linear = found.measured(run), found.linear(run)
    base = found.reference
    if linear == 1:
        how = f"{run.file} against {base.file} on the same {_ranks(run)}: {measured:.3g} times as fast."
    else:
        what = "as much work in the time" if found.kind != STRONG else "as fast"
        how = f"{base.ranks} -> {_ranks(run)}: {measured:.3g} times {what}, where {linear:.3g} would be linear."
    return f"{how} {_causes(found, run)}"


def _causes(found: Speedup, run: SpeedupParameters) -> str:
    causes = found.causes(run)
    if not causes:
        return f"No factor departs from 1 by more than {units.percent(NEAR)}."
    worst = found.undermining(run)
    said = []
    if worst:
        verb = "costs most" if found.linear(run) == 1 else "undermines it most"
        said.append(f"{capital(_named(worst))} {verb}: {worst.factor.meaning}.")
        others = [m for m in causes if m.quotient < 1 and m is not worst and m.factor != worst.factor]
        if others:
            said.append(f"After it: {_listed(others)}.")
        if worst.factor.in_model:
            said.append(f"Without its loss it would be {found.measured(run) / worst.quotient:.3g} times.")
    if helping := [m for m in causes if m.quotient > 1]:
        said.append(f"{'What helps' if worst else 'What gains'}: {_listed(helping)}.")
    return " ".join(said)


def _named(moved: FactorChange) -> str:
    change = f"{factor_text(moved.factor, moved.before)} -> {factor_text(moved.factor, moved.after)}"
    return f"{moved.factor.name} ({change}, factor {moved.quotient:.2f})"


def _listed(moved: list[FactorChange]) -> str:
    return ", ".join(_named(one) for one in moved)


def _ranks(run: SpeedupParameters) -> str:
    return units.plural(run.ranks, "rank")


def _notes(found: Speedup) -> list[str]:
    notes = [
        f"{found.kind.capitalize()} scaling. Factors are relative to {found.reference.file}; their product is the "
        "modelled speedup."
    ]
    notes += found.notes
    if any(not factor.in_model for factor in found.factors):
        most = max((abs(found.difference(run)) for run in found.runs), default=0.0)
        notes.append(
            f"Measured and modelled speedup differ by {units.percent(most)} at most; the difference is the quotient of "
            "cycles per second, which the model takes as constant."
        )
    if crowded := [run.file for run in found.runs if run.shares_cpus]:
        notes.append(
            f"More ranks than CPUs: {', '.join(crowded)}. There ranks wait for a CPU, too, in MPI and between calls."
        )
    notes += left_out_notes(found.runs)
    over = [run.file for run in found.runs if run.ideal_ns and run.ideal_ns > run.span_ns]
    if over:
        notes.append(
            f"On the ideal network {', '.join(over)} would take longer than it did: there large sends wait for their "
            "receives (--eager-limit)."
        )
    return notes


def left_out_notes(runs: Sequence[SpeedupParameters]) -> list[str]:
    """Say for each run which calls its replay on the ideal network leaves out."""
    notes = (
        f"{run.file}: {note}" for run in runs if (note := ideal_note(run, "Real communication", "Micro load balance"))
    )
    return list(dict.fromkeys(notes))


def variants_tables(found: Variants) -> Iterator[Table | Text]:
    """Yield the tables of both variants, and sentences on their difference."""
    for variant in (found.first, found.second):
        yield from speedup_tables(variant)
    yield Text("\n".join(difference_sentence(one) for one in found.differences))


def difference_sentence(one: VariantDifference) -> str:
    """Say what the second variant gains and loses against the first at one number of ranks."""
    first, second = one.speedups
    alike = "both have the same speedup" if one.same_speedup else "the speedups are"
    figures = f"{first:.3g} and {second:.3g}"
    times = f"{one.second.file} is {one.faster:.3g} times as fast as {one.first.file}"
    text = f"At {_ranks(one.first)}, {alike} ({figures}), and {times}."
    if not one.gains and not one.losses:
        return f"{text} No factor differs by more than {units.percent(NEAR)}."
    if one.gains:
        text += f" It gains {_listed(one.gains)}"
        text += f"; it loses {_listed(one.losses)}." if one.losses else "."
    else:
        text += f" It loses {_listed(one.losses)}."
    return text


def speedup_json(found: Speedup) -> dict[str, Any]:
    """Return the speedup for JSON. Times of runs are in s; amounts in factors are not scaled (times in ns)."""
    return {
        "scaling": found.kind,
        "reference": found.reference.file,
        "factors": [factor.key for factor in found.factors],
        "notes": list(found.notes),
        "runs": [_run_json(found, run) for run in found.runs],
    }


def _run_json(found: Speedup, run: SpeedupParameters) -> dict[str, Any]:
    worst = found.undermining(run)
    return {
        "file": run.file,
        "ranks": run.ranks,
        "threads": run.threads,
        "iterations": run.iterations,
        "period_s": run.period_ns / 1e9,
        "ideal_s": None if run.ideal_ns is None else run.ideal_ns / 1e9,
        "not_replayed": run.not_replayed or None,
        "incomplete": left_out_text(run),
        "measured": found.measured(run),
        "modelled": found.modelled(run),
        "linear": found.linear(run),
        "factors": {m.factor.key: {"value": m.after, "quotient": m.quotient} for m in found.moved(run)},
        "undermining": worst.factor.key if worst else None,
        "causes": [m.factor.key for m in found.causes(run)],
        "sentence": sentence(found, run),
    }


def variants_json(found: Variants) -> dict[str, Any]:
    """Return two variants and their differences for JSON."""
    return {
        "first": speedup_json(found.first),
        "second": speedup_json(found.second),
        "differences": [
            {
                "ranks": one.first.ranks,
                "speedups": list(one.speedups),
                "same_speedup": one.same_speedup,
                "faster": one.faster,
                "factors": {m.factor.key: m.quotient for m in one.moved},
                "gains": [m.factor.key for m in one.gains],
                "losses": [m.factor.key for m in one.losses],
                "sentence": difference_sentence(one),
            }
            for one in found.differences
        ],
    }
