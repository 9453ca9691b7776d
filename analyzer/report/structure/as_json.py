"""The structure of a run as plain data: seconds and fractions under stable names."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from analyzer.report.structure.sentence import sentence
from analyzer.structure.levels.parts import Part, Structure, agreement, off_by, ranked


def structure_json(structure: Structure) -> dict[str, Any]:
    """What `analyze structure --json` prints. `levels`: all loops as they are numbered (Structure.loops)."""
    main = structure.main
    alpha = {signal.name: signal.alpha_hz for signal in structure.signals}
    return {
        "file": structure.file,
        "ranks": structure.ranks,
        "runtime_s": structure.duration_ns / 1e9,
        "sentence": sentence(structure),
        "iterations": main.count if main else None,
        "period_s": _seconds(main.iterations.period_ns) if main and main.iterations else None,
        "agreement": structure.agreement,
        "signals_agree": asdict(agree) if (agree := agreement(structure)) else None,
        "levels": [_loop(part, number) for number, part in enumerate(structure.loops, 1)],
        "parts": [_part(part, structure) for part in structure.parts],
        "signals": [
            {
                "name": metric.name,
                "period_s": None if metric.period_ns is None else metric.period_ns / 1e9,
                "iterations": metric.iterations,
                "correlation": metric.correlation,
                "off": off_by(metric, main),
                "samples_per_s": alpha.get(metric.name),
            }
            for metric in ranked(structure)
        ],
        "perturbed": [
            {"cause": one.cause.value, "begin_s": _seconds(one.begin_ns), "end_s": _seconds(one.end_ns)}
            for one in structure.perturbed
        ],
    }


def _loop(part: Part, number: int) -> dict[str, Any]:
    iterations = part.iterations
    assert iterations is not None
    begin, end = iterations.span_of(part.representative)
    return {
        "loop": number,
        "level": part.level,
        "begin_s": _seconds(iterations.begin_ns),
        "end_s": _seconds(iterations.end_ns),
        "period_s": _seconds(iterations.period_ns),
        "iterations": part.count,
        "body": iterations.body,
        "found_by": iterations.source.value,
        "every": sorted(set(part.every)),
        "fewest": part.fewest or part.count,
        "most": part.most or part.count,
        "total": part.total or part.count,
        "tasks": asdict(part.tasks) if part.tasks else None,
        "efficiency": part.cost.efficiency,
        "mpi": part.cost.mpi,
        "representative": {"iteration": part.representative + 1, "begin_s": _seconds(begin), "end_s": _seconds(end)},
        "slow": [{"iteration": number, "times": times} for number, times in part.slow],
    }


def _part(part: Part, of: Structure) -> dict[str, Any]:
    iterations = part.iterations
    return {
        "kind": part.kind.value,
        "loop": of.number(part),
        "level": part.level,
        "begin_s": _seconds(part.begin_ns),
        "end_s": _seconds(part.end_ns),
        "iterations": part.count,
        "period_s": _seconds(iterations.period_ns) if iterations else None,
        "mpi": part.cost.mpi,
        "efficiency": part.cost.efficiency,
        "flushing_s": _seconds(part.cost.flushed_ns),
        "parts": [_part(one, of) for one in part.inside],
    }


def _seconds(ns: int) -> float:
    return ns / 1e9
