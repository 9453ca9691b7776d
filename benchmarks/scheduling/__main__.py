"""Runs the experiments and prints for every claim whether it holds, and for every policy whether its statement does."""

from __future__ import annotations

import argparse
from pathlib import Path
from textwrap import fill

from analyzer.errors import TracelibError
from benchmarks.scheduling.claims import Verdict, verdicts
from benchmarks.scheduling.experiments import NAMES, Setting
from benchmarks.scheduling.mix_claims import mix_verdicts
from benchmarks.scheduling.mixes import MixSetting
from benchmarks.scheduling.real import read, real_verdicts

WIDTH = 118


def text_of(verdict: Verdict) -> str:
    """Write the claim, whether it holds, and every policy's answer, with its number."""
    claim = verdict.claim
    said = f"{claim.experiment} {'true ' if verdict.holds else 'FALSE'} {claim.text}; says the study of "
    said += ", ".join(claim.true_of) if set(claim.true_of) != set(NAMES) else "all"
    said += f", not of {', '.join(claim.false_of)}" if claim.false_of else ""
    said += f" (against it: {', '.join(verdict.against)})" if verdict.against else ""
    lines = [fill(said, WIDTH, subsequent_indent=" " * 9)]
    for word, wanted in (("true", True), ("false", False)):
        groups: dict[str, list[str]] = {}
        for name, answer in verdict.answers.items():
            if answer is not None and answer[0] == wanted:
                groups.setdefault(answer[1], []).append(name)
        if groups:
            text = "; ".join(f"{number}: {', '.join(names)}" for number, names in groups.items())
            lines.append(fill(f"{word}  {text}", WIDTH, initial_indent=" " * 9, subsequent_indent=" " * 16))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scheduling", description=__doc__)
    parser.add_argument("--cycles", type=int, default=120, help="that the slowest application would do alone [120]")
    parser.add_argument("--traces", nargs="+", metavar="FILE.dim", help="E8 and E9 of these traces only")
    given = parser.parse_args()
    if given.traces:
        try:
            programs = read(given.traces)
        except (TracelibError, ValueError) as error:
            parser.error(str(error))
        found = real_verdicts({Path(path).stem: one for path, one in zip(given.traces, programs, strict=True)})
    else:
        found = verdicts(Setting(cycles=given.cycles).all()) + mix_verdicts(MixSetting().all())
    for verdict in found:
        print(text_of(verdict))
    print(f"{sum(v.holds for v in found)} of {len(found)} claims hold")


main()
