"""The iterations of a run in the first look: a sentence on them, what is uneven about them, and the same as data."""

from __future__ import annotations

from typing import Any

from analyzer.report.evenness import evenness_json, told
from analyzer.report.look.summary import Summary
from analyzer.report.structure.sentence import sentence
from analyzer.report.words import units

_MOST = 3


def iterations_lines(summary: Summary) -> list[str]:
    """What the run is made of, and the findings that cost most; nothing where no iterations were found. Of a run
    that is too long to look for them here it says so."""
    if summary.structure is None and summary.is_long:
        calls = units.count(int(summary.profile.count.sum()))
        return [f"Not looked for in {calls} calls, nor what is uneven about them: analyze structure"]
    if not summary.structure or not summary.structure.main:
        return []
    lines = [f"{sentence(summary.structure)}."]
    if summary.even:
        found = told(summary.even, summary.efficiency.runtime_ns)
        lines += [one.text for one in found[:_MOST]]
    return [*lines, "analyze structure shows them, rank by rank"]


def iterations_json(summary: Summary) -> dict[str, Any] | None:
    """Times in s; None where iterations were not looked for, or not found."""
    main = summary.structure.main if summary.structure else None
    if not summary.structure or not main or not main.iterations:
        return None
    return {
        "sentence": sentence(summary.structure),
        "iterations": main.count,
        "period_s": main.iterations.period_ns / 1e9,
        "uneven": evenness_json(summary.even) if summary.even else None,
    }
