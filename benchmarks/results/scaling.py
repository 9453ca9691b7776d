"""R10 and R11: the speedup model on runs whose factors are planted, and its predictions beside three others."""

from __future__ import annotations

from contextlib import closing
from math import log
from pathlib import Path

import numpy as np
from phased import with_factors, write_phases

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.speedup_model.extrapolation import FORMS, fitted
from analyzer.speedup_model.factor_model import speedup, variants
from analyzer.speedup_model.parameters import SpeedupParameters, parameters
from analyzer.speedup_model.prediction import predict
from benchmarks.results.rows import Part, Row, listed, percent

GHZ = 2.0
WORK_NS = 64e9
"""Computation of all ranks of the smallest run, in ns."""
NAMES = ("transfer", "dependencies", "balance", "ipc", "instructions")
WRF_ARW = {128: (0.97, 0.95, 0.96, 1, 1), 256: (0.96, 0.85, 0.87, 1, 1.05), 512: (0.95, 0.8, 0.85, 1, 1.05)}
WRF_NMM = {128: (0.97, 0.95, 0.96, 1, 1), 256: (0.97, 0.95, 0.955, 1, 1.11), 512: (0.965, 0.95, 0.955, 1, 1.25)}
CPMD = {"without": (0.97, 0.86, 0.868, 1, 1), "with": (0.8, 0.95, 0.953, 1, 1)}
FITTED, AHEAD = (16, 36, 64), (121, 256, 1024)
CURVES = {
    "NAS-SP": ({"transfer": 0.004, "dependencies": 0.045, "balance": 0.05, "ipc": -0.01}, "balance, dependencies"),
    "NAS-MG": ({"transfer": 0.01, "dependencies": 0.06, "balance": 0.045, "ipc": 0.0}, "balance, dependencies"),
    "NAS-BT": ({"transfer": 0.06, "dependencies": 0.04, "balance": 0.008, "ipc": -0.02}, "transfer, dependencies"),
}
"""How much of each factor is lost with each step of ln(P / 16), and the two factors that the thesis names."""


def run_of(folder: Path, name: str, ranks: int, factors: tuple[float, ...]) -> SpeedupParameters:
    """Write a trace with this number of ranks and these factors, and measure it."""
    transfer, dependencies, balance, ipc, instructions = factors
    useful = WORK_NS * instructions / ipc
    span = useful / (ranks * balance * dependencies * transfer)
    durations, latency = with_factors(ranks, round(span), transfer, dependencies, balance)
    path = write_phases(folder / f"{name}-{ranks}.prv", durations, latency, clock_ghz=GHZ, ipc=ipc)
    with closing(open_trace(path)) as trace:
        return parameters(trace, Team())


def part(folder: Path) -> Part:
    """Compute R10: measured and modelled speedup, and the cause."""
    said = []
    for name, runs, targets, cause in (
        ("WRF-ARW, Iberia", WRF_ARW, (1.5, 2.8), "dependencies, balance"),
        ("WRF-NMM, Iberia", WRF_NMM, (1.8, 3.2), "instructions"),
    ):
        found = speedup([run_of(folder, name[:7], ranks, factors) for ranks, factors in runs.items()])
        for run, target in zip(found.runs[1:], targets, strict=True):
            measured, modelled = found.measured(run), found.modelled(run)
            said.append(
                Row(
                    f"{name}, 128 to {run.ranks}: speedup",
                    f"about {target}",
                    f"measured {measured:.2f}, modelled {modelled:.2f}",
                    f"the model is {percent(abs(modelled / measured - 1), 3)} off",
                )
            )
            causes = listed(sorted(one.factor.key for one in found.causes(run)))
            said.append(Row("... what undermines it", listed(sorted(cause.split(", "))), causes))
    small = run_of(folder, "cpmd", 32, (0.95, 0.95, 0.95, 1, 1))
    pairs = [[small, run_of(folder, f"cpmd-{name}", 64, factors)] for name, factors in CPMD.items()]
    both = variants(*pairs).differences[-1]
    said.append(
        Row(
            "CPMD, 64 ranks: speedup without, with Taskgroups",
            "the same",
            listed(f"{s:.2f}" for s in both.speedups),
        )
    )
    said.append(
        Row("... Taskgroups gain", "balance, dependencies", listed(sorted(one.factor.key for one in both.gains)))
    )
    said.append(Row("... and lose", "transfer", listed(sorted(one.factor.key for one in both.losses))))
    note = (
        "The runs of Casas 2009 are not published. These are traces in which its factors are planted, chosen so that "
        "the speedups are as stated; measured are the traces, by their times and by a replay on the ideal network."
    )
    return Part("R10: the speedup model", ((note, tuple(said)),))


def prediction_part(folder: Path) -> Part:
    """Compute R11: the errors of the model and of three extrapolations of the speedup itself."""
    said = []
    for name, (losses, causes) in CURVES.items():
        runs = [run_of(folder, name, ranks, _at(losses, ranks)) for ranks in (*FITTED, *AHEAD)]
        found = predict(runs, AHEAD, fitted(FORMS["log"]))
        for one in found.predicted:
            own = one.error(one.speedup.value)
            others = {kind: one.error(value) for kind, value in one.baselines.items()}
            known = {kind: error for kind, error in others.items() if error is not None}
            text = f"model {percent(own or 0.0)}, " + listed(
                f"{kind} {percent(error, 0)}" for kind, error in known.items()
            )
            best = "is smallest" if own is not None and own <= min(known.values()) else "IS NOT SMALLEST"
            said.append(Row(f"{name}, {one.ranks} ranks: error", "that of the model is smallest", text, best))
        last = found.predicted[-1]
        worst = [one.factor.key for one in sorted(last.factors, key=lambda one: one.quotient)[:2]]
        note = f"worst observed: {last.observed_worst}"
        said.append(Row("... what will undermine it at 1024", causes, listed(sorted(worst)), note))
    note = (
        "Fitted to 16, 36 and 64 ranks. Traces with planted factors that fall along lines of ln P, one set for each "
        "code of Casas 2009; of its own runs there are no numbers. That the model is nearly exact is no surprise: it "
        "fits such lines. What is shown is by how much the others are off."
    )
    return Part("R11: prediction", ((note, tuple(said)),))


def _at(losses: dict[str, float], ranks: int) -> tuple[float, ...]:
    step = log(ranks / 16)
    rates = [0.97 - losses[name] * step for name in NAMES[:3]]
    return (*rates, 1.2 - losses["ipc"] * step, float(np.round(1 + 0.015 * step, 6)))
