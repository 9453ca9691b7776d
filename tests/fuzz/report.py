"""Results of a campaign, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from fuzz.campaign import Result


def tables(results: Sequence[Result], seconds: float) -> str:
    """Answers, refusals and failures of each kind of file and of each command; kinds of failures; speed."""
    kinds = _table("kind of file", [(r.kind, r) for r in results])
    commands = _table("command", [(_command(r), r) for r in results])
    failures = Counter(r.failure for r in results if r.failure)
    said = ", ".join(f"{number} {name}" for name, number in failures.most_common()) or "none"
    speed = f"{len(results)} inputs in {seconds:.0f} s, {len(results) / seconds:.1f} a second"
    return f"{kinds}\n\n{commands}\n\n{speed}; failures: {said}"


def _command(result: Result) -> str:
    program, first = result.line[:2]
    if program == "tracelib":
        return f"tracelib {first}"
    return "look" if "." in first else program if first.startswith("-") else first


def _table(title: str, named: Iterable[tuple[str, Result]]) -> str:
    counts: dict[str, Counter[str]] = {}
    for name, result in named:
        what = "failed" if result.failure else "answered" if result.outcome.code == 0 else "refused"
        counts.setdefault(name, Counter())[what] += 1
    rows = [f"{title:20}{'inputs':>8}{'answered':>10}{'refused':>9}{'failed':>8}"]
    for name, of in counts.items():
        rows.append(f"{name:20}{of.total():8}{of['answered']:10}{of['refused']:9}{of['failed']:8}")
    return "\n".join(rows)
