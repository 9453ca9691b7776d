"""The HTML page: findings first, then efficiencies, the timeline, and a section for each analysis.

For several runs there is a table of their main numbers, with the differences from the first run. The cells of a
timeline are stored as levels of detail, 4 bits for each share, compressed.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from shlex import quote
from typing import Any

import numpy as np

from analyzer.report.look.finding_sentences import findings_lines, overlap_note
from analyzer.report.look.sentences import communication_efficiency, load_balance, parallel_efficiency
from analyzer.report.page.gather import PageRun
from analyzer.report.page.sections import PageSection, sections
from analyzer.report.words import replays, units
from analyzer.timeline import NAMES, ActivityKind, Timeline
from analyzer.trace import Losses

MARKED = 0.05
"""Smallest difference that is marked: a share of the first run's number; for percentages a difference in points."""


def _numbers(run: PageRun) -> dict[str, tuple[float | None, Callable[[float], str]]]:
    of, factors = run.summary, run.summary.efficiency
    messages = of.messages
    return {
        "Run time": (float(run.trace.duration_ns), units.time),
        "Ranks": (float(run.trace.size), units.count),
        "Computing, all ranks": (float(of.useful.by_rank()[of.present].sum()), units.time),
        "In MPI, all ranks": (float(of.profile.mpi_ns().sum()), units.time),
        "Waiting for others, all ranks": (float(of.waits.total_ns), units.time),
        "Parallel efficiency": (factors.parallel_efficiency, units.percent),
        "Load balance": (factors.load_balance, units.percent),
        "Communication efficiency": (factors.communication_efficiency, units.percent),
        "Serialization efficiency": (factors.serialization_efficiency, units.percent),
        "Transfer efficiency": (factors.transfer_efficiency, units.percent),
        "Messages": (float(messages.count), units.count),
        "Bytes in messages": (float(messages.bytes), units.size),
        "MPI calls": (float(of.profile.count.sum()), units.count),
    }


def comparison_table(runs: Sequence[PageRun]) -> str:
    """Return the table that compares the main numbers of several runs, as HTML. "": there is one run."""
    if len(runs) < 2:
        return ""
    every = [_numbers(run) for run in runs]
    head = "".join(f"<th scope=col>{escape(run.name)}</th>" for run in runs)
    rows = []
    for name in every[0]:
        first = every[0][name][0]
        cells = "".join(_cell(*numbers[name], first if k else None) for k, numbers in enumerate(every))
        rows.append(f"<tr><th scope=row>{escape(name)}</th>{cells}</tr>")
    body = f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f"<div class=wide><table class=compared>{body}</table></div>"


def _much(more: float, *, points: bool) -> str:
    return units.percent(more).replace("%", "points" if points else "%")


def _cell(value: float | None, form: Callable[[float], str], first: float | None) -> str:
    if value is None:
        return "<td>not known</td>"
    text = escape(form(value))
    if first is None or value == first:
        return f"<td>{text}</td>"
    points = form is units.percent  # of a share its difference: 40 % and 50 % differ in 10 points
    more = value - first if points else (value - first) / first if first else float("inf")
    by = "new" if np.isinf(more) else f"{'+' if more > 0 else '-'}{_much(abs(more), points=points)}"
    sign = "&#9650;" if more > 0 else "&#9660;"
    marked = " class=marked" if abs(more) >= MARKED else ""
    return f"<td{marked}>{text} <span>{sign} {escape(by)}</span></td>"


STEPS = 15
"""Number of steps of a share: a share of time is stored as a whole number of fifteenths."""
_TOGETHER, _FEWEST = 4, 256
"""Number of bins that the next level joins, and number of bins at which there is no coarser level."""


def packed_cells(of: Timeline) -> tuple[str, list[int]]:
    """Pack the cells of a timeline for the page.

    Cells are uint16, level after level and line after line, the finest level first. A cell holds four shares: the share
    of ActivityKind k is in bits 4k to 4k + 3. The shares of a cell add up to at most STEPS.

    Returns:
        The zlib stream of all cells in Base64, and the number of bins of each level.
    """
    levels, bins, together = [], [], 1
    while True:
        level = of if together == 1 else of.coarser(together)
        levels.append(_cells(level.shares))
        bins.append(level.bins)
        together *= _TOGETHER
        if level.bins <= _FEWEST:
            break
    stream = zlib.compress(b"".join(one.astype("<u2").tobytes() for one in levels), 9)
    return base64.b64encode(stream).decode(), bins


def _cells(shares: np.ndarray) -> np.ndarray:
    """Return the cells as uint16 of shape (lines, bins). Sums of shares are rounded, so errors do not add up."""
    below = np.rint(np.cumsum(shares, axis=0) * STEPS).astype(np.uint16)
    parts = np.diff(below, axis=0, prepend=np.zeros_like(below[:1]))
    return sum((parts[k] << np.uint16(4 * k) for k in ActivityKind), np.zeros(parts.shape[1:], np.uint16))


def timeline_json(run: PageRun) -> dict[str, Any]:
    """Return a timeline for the page's script. Times are in s."""
    of, marks = run.timeline, run.marks
    cells, bins = packed_cells(of)
    return {
        "name": run.name,
        "begin": of.begin_ns / 1e9,
        "end": of.end_ns / 1e9,
        "width": of.width_ns / 1e9,
        "together": _TOGETHER,
        "bins": bins,
        "lines": list(of.lines.names),
        "grouped": of.lines.grouped,
        "cells": cells,
        "flushes": [[line, begin / 1e9] for line, begin in marks.flushes],
        "edges": [edge / 1e9 for edge in marks.edges],
        "every": marks.every,
        "regions": [[one.name, one.begin_ns / 1e9, one.end_ns / 1e9] for one in marks.regions],
    }


BEGINNING = "<!doctype html>\n<!-- analyze report -->\n"
"""First bytes of a page. A file that begins so may be replaced by a new page."""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""Content security policy of the page, so that the browser itself refuses to fetch anything."""


def page_html(runs: Sequence[PageRun]) -> str:
    """Return the page as the HTML of one file, which needs no other file."""
    every = sections(runs)
    title = " and ".join(run.name for run in runs)
    differs = [("differences", "What differs")] if len(runs) > 1 else []
    links = [("findings", "What costs most"), *differs, ("efficiency", "Efficiency"), ("timeline", "Timeline")]
    links += [(one.name, one.title) for one in every]
    nav = "".join(f'<a href="#{name}">{escape(text)}</a>' for name, text in links)
    shown = [_section(one, runs) for one in every]
    body = "".join((
        f"<header><h1>{escape(title)}</h1>{''.join(_run(run, len(runs) == 1) for run in runs)}</header>",
        f"<nav aria-label=Sections>{nav}</nav><main>",
        _findings(runs), _differences(runs), _efficiency(runs), _timeline(runs), *shown, "</main>",
        f"<script>{_resource('drawing.js')}{_resource('timeline.js')}</script>",
    ))  # fmt: skip
    return (
        f'{BEGINNING}<html lang=en><head><meta charset=utf-8><meta name=viewport content="width=device-width">'
        f'<meta http-equiv=Content-Security-Policy content="{_POLICY}"><title>{escape(title)}</title>'
        f"<style>{_resource('base.css')}{_resource('page.css')}</style></head><body>{body}</body></html>\n"
    )


def _resource(name: str) -> str:
    return files("analyzer.report.page").joinpath(name).read_text()


def _run(run: PageRun, alone: bool) -> str:
    trace = run.trace
    parts = [
        units.plural(trace.size, "rank"), units.plural(len(trace.nodes.names), "node"), units.time(trace.duration_ns),
        units.plural(int(run.summary.profile.count.sum()), "MPI call"),
        *([f"{trace.origin.date:%Y-%m-%d %H:%M}"] if trace.origin.date else []),
    ]  # fmt: skip
    ending = "".join(f"<p class=ending>{escape(line)}</p>" for line in trace.extra(Losses).ending[:4])
    name = "" if alone else f"<b>{escape(run.name)}</b> "
    program = f"<code>{escape(trace.origin.command)}</code> " if trace.origin.command else ""
    return f"<p>{name}{program}{escape(', '.join(parts))}</p>{ending}"


def _named(run: PageRun, runs: Sequence[PageRun]) -> str:
    return f"<h3>{escape(run.name)}</h3>" if len(runs) > 1 else ""


def _side_by_side(parts: Sequence[str]) -> str:
    return f"<div class=sides>{''.join(f'<div>{part}</div>' for part in parts)}</div>"


def _findings(runs: Sequence[PageRun]) -> str:
    parts = []
    for run in runs:
        lines = findings_lines(run.summary)
        items = "".join(f"<li>{_finding(line)}</li>" for line in lines)
        note = f"<p class=note>{escape(note)}</p>" if (note := overlap_note(run.summary)) else ""
        none = "<p>No computation was recorded, so nothing can be said of its cost.</p>"
        parts.append(f"{_named(run, runs)}<ol class=findings>{items}</ol>{note}" if lines else none)
    commands = _commands([f"analyze look --no-files {quote(run.file)}" for run in runs])
    return f"<section id=findings><h2>What costs most</h2>{_side_by_side(parts)}{commands}</section>"


def _finding(line: str) -> str:
    """Return a finding as HTML, with the command at its end as code."""
    text, then, command = line.rpartition("; next: ")
    return f"{escape(text)}; next: <code>{escape(command)}</code>" if then else escape(line)


def _differences(runs: Sequence[PageRun]) -> str:
    if len(runs) < 2:
        return ""
    said = (
        f"Differences from {escape(runs[0].name)}: of {100 * MARKED:.0f} %, of shares {100 * MARKED:.0f} points, and "
        "more they are marked."
    )
    return f"<section id=differences><h2>What differs</h2><p>{said}</p>{comparison_table(runs)}</section>"


def _efficiency(runs: Sequence[PageRun]) -> str:
    parts = []
    for run in runs:
        of, factors = run.summary, run.summary.efficiency
        if factors.parallel_efficiency is None:
            parts.append(f"{_named(run, runs)}<p>Not shown: no computation was recorded.</p>")
            continue
        rows = (
            ("Parallel efficiency", 0, factors.parallel_efficiency, parallel_efficiency(of)),
            ("= Load balance", 1, factors.load_balance, load_balance(of)),
            ("x Communication efficiency", 1, factors.communication_efficiency, communication_efficiency(of)),
            ("= Serialization", 2, factors.serialization_efficiency, replays.serialization_text(factors)),
            ("x Transfer", 2, factors.transfer_efficiency, replays.transfer_text(factors, of.transfer_waits_ns)),
        )
        items = "".join(_factor(*row) for row in rows)
        notes = "".join(f"<p class=note>{escape(note)}</p>" for note in replays.ideal_notes(factors.ideal))
        parts.append(f"{_named(run, runs)}<dl class=tree>{items}</dl>{notes}")
    commands = _commands([f"analyze efficiency {quote(run.file)}" for run in runs])
    return f"<section id=efficiency><h2>Efficiency</h2>{_side_by_side(parts)}{commands}</section>"


def _factor(name: str, level: int, value: float | None, text: str) -> str:
    if value is None:
        return ""
    bar = f'<span class=bar><span style="width:{100 * min(value, 1.0):.1f}%"></span></span>'
    return f"<dt class=level{level}>{name}</dt><dd>{bar}<b>{units.percent(value)}</b> {escape(text)}</dd>"


def _timeline(runs: Sequence[PageRun]) -> str:
    key = "".join(f'<span><i class="key doing{k}"></i>{name}</span>' for k, name in enumerate(NAMES))
    buttons = "".join(
        f'<button type=button data-do={do} title="{title}">{text}</button>'
        for do, text, title in (
            ("in", "+", "zoom in (+)"), ("out", "&minus;", "zoom out (-)"), ("left", "&larr;", "earlier (left)"),
            ("right", "&rarr;", "later (right)"), ("all", "all", "whole run (0)"),
        )
    )  # fmt: skip
    grouped = any(run.timeline.lines.grouped for run in runs)
    lines = "A line is a group of ranks that behave alike (their number in brackets), filled by their mean" if grouped \
        else "A line is a rank, filled from below by what it does"  # fmt: skip
    said = f"{lines}. Zoom with the wheel or + and -, move by dragging or with the arrow keys, 0 shows all."
    canvases = "".join(
        f"{_named(run, runs)}<canvas class=timeline tabindex=0 role=img data-run={k} "
        f'aria-label="ranks of {escape(run.name)} over time"></canvas>'
        for k, run in enumerate(runs)
    )
    data = json.dumps([timeline_json(run) for run in runs]).replace("<", "\\u003c")
    commands = _commands([f"analyze look --no-files {quote(run.file)} --picture ranks.png" for run in runs])
    return (
        f"<section id=timeline><h2>Timeline</h2><p>{said}</p><div class=keys>{key}<span class=buttons>{buttons}</span>"
        f"</div>{canvases}<p class=hover aria-live=polite>&nbsp;</p>"
        f"<script type=application/json id=cells>{data}</script>{commands}</section>"
    )


def _section(of: PageSection, runs: Sequence[PageRun]) -> str:
    names = [f"<b>{escape(run.name)}</b>: " if len(runs) > 1 else "" for run in runs]
    texts = "".join(f"<p>{name}{escape(text)}</p>" for name, text in zip(names, of.sentences, strict=True))
    chart = f"<figure>{of.svg}</figure>" if of.svg else ""
    return f"<section id={of.name}><h2>{escape(of.title)}</h2>{texts}{chart}{_commands(of.commands)}</section>"


def _commands(commands: Sequence[str]) -> str:
    return f"<p class=command>{' '.join(f'<code>{escape(one)}</code>' for one in dict.fromkeys(commands))}</p>"
