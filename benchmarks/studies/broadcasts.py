"""Broadcasts along trees: times by theory, and by models that are selected by AIC (Rodriguez
2011, section 4.5).

Theory has the closed forms of the LogGP family, with the parameters that `analyze loggp` finds for the same network.
The candidates of the selection come from the thesis: segments ns, their size ms in KB, ranks P. Then they are
refined by what `analyze loggp` says: sizes at which the network changes its protocol.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas

import analyzer
from analyzer.loggp.model import LoOgGP
from analyzer.models.described_terms import FitOptions
from analyzer.models.model import Model
from analyzer.network_measurement.broadcast_models import ALGORITHMS
from analyzer.network_measurement.collectives import (
    CollectiveComparison,
    MeasuredCollective,
    ModelAccuracy,
    accuracy,
    read_compared,
)
from analyzer.network_measurement.estimate import estimate
from analyzer.network_measurement.netfile import read_measurement
from benchmarks.mpi import ROOT

KIBIBYTE = 1024

DATA = ROOT / "benchmarks" / "data"
KEPT = ("broadcasts.h5", "broadcasts-mpich.h5")
"""Measurements on a machine that did little else; benchmarks/data/README.md."""
SIZES, TREES = "{ns},{ms}", "{P,ceil(log2(P)),floor(log2(P))}"
_NAME = re.compile(r"(Open MPI|MPICH)\D*(\d+(?:\.\d+)+)")
_ENOUGH = 0.2
"""A change of protocol is a term if at least this share of the settings is on each side."""
HEAD = (
    "| MPI | tree | ranks | settings | theory: bias | dispersion | RMS | AIC: RMS | left out | terms "
    "| AIC, protocols: RMS | left out | terms |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Selected:
    """A model of one tree, and how good it is at the settings that it was fitted to."""

    model: Model
    accuracy: ModelAccuracy


@dataclass(frozen=True)
class Line:
    """One tree under one MPI."""

    mpi: str
    algorithm: str
    ranks: tuple[int, ...]
    theory: ModelAccuracy
    plain: Selected
    refined: Selected

    @property
    def line(self) -> str:
        """In Markdown."""
        ranks = " to ".join(str(n) for n in sorted({min(self.ranks), max(self.ranks)}))
        cells = [self.mpi, self.algorithm, ranks, str(self.theory.settings), f"{100 * self.theory.bias:+.0f} %"]
        cells += [f"{100 * share:.0f} %" for share in (self.theory.dispersion, self.theory.rms)]
        for of in (self.plain, self.refined):
            errors = (of.accuracy.rms, of.model.cross_validation_error)
            cells += [
                *("-" if np.isnan(share) else f"{100 * share:.1f} %" for share in errors),
                str(len(of.model.terms)),
            ]
        return f"| {' | '.join(cells)} |"


def lines() -> Iterator[Line]:
    """Read all measurements that are kept."""
    for name in KEPT:
        yield from lines_of(DATA / name)


def lines_of(path: Path) -> Iterator[Line]:
    """Read one measurement of a network with broadcasts."""
    measurement = read_measurement(path)
    network = estimate(measurement.rows_of(measurement.places()[0])).model
    mpi = " ".join(_NAME.findall(str(measurement.attributes["mpi"]))[0])
    compared = read_compared(path, network)["broadcasts"]
    for algorithm in ALGORITHMS:
        yield _line(mpi, algorithm, compared, network)


def _line(mpi: str, algorithm: str, compared: CollectiveComparison, network: LoOgGP) -> Line:
    settings = [m for m in compared.settings if m.name == algorithm]
    frame = frame_of(settings)
    ranks = tuple(sorted({m.ranks for m in settings}))
    plain, refined = (
        _selected(frame, f"{sizes},{TREES}" if len(ranks) > 1 else sizes)
        for sizes in (SIZES, refined_sizes(frame, network))
    )
    return Line(mpi, algorithm, ranks, compared.models[algorithm], plain, refined)


def frame_of(settings: list[MeasuredCollective]) -> pandas.DataFrame:
    """Make a row for each setting; time in us."""
    rows = [(m.segments, m.segment_bytes / KIBIBYTE, m.ranks, 1e6 * m.time_s) for m in settings]
    return pandas.DataFrame(rows, columns=["ns", "ms", "P", "time"])


def refined_sizes(frame: pandas.DataFrame, network: LoOgGP) -> str:
    """Add a term to SIZES for each interval of the network that begins among the segments.

    The term is 0 below it, 1 from there.
    """
    begins = [interval.from_bytes / KIBIBYTE for interval in network.intervals[1:]]
    shares = [(begin, float((frame["ms"] >= begin).mean())) for begin in begins]
    steps = [f"min(1,floor(ms/{begin:g}))" for begin, share in shares if _ENOUGH <= share <= 1 - _ENOUGH]
    return f"{{ns}},{{{','.join(['ms', *steps])}}}"


def _selected(frame: pandas.DataFrame, terms: str) -> Selected:
    model = analyzer.fit(
        frame, "time", ["ns", "ms", "P"], terms, FitOptions(weighting="measured")
    )  # as the thesis does
    said = np.array([model(**at) for at in frame[["ns", "ms", "P"]].to_dict("records")])
    return Selected(model, accuracy(said, frame["time"].to_numpy()))
