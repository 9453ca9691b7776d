"""The figures of a run that are compared, each under a name that is the same in another run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from analyzer.program.model import LeftOut


class FigureFamily(Enum):
    """Family of figures.

    Times of PART are a decomposition of the run time; times of other families overlap with them.
    """

    RUN = "run"  # the run time
    PART = "part"  # what a thread does on average: the sum of all parts is the run time
    ITERATION = "iteration"  # one pass of the main loop
    EFFICIENCY = "efficiency"
    RANK = "rank"  # computing of one rank
    COMPUTING = "computing"  # between two calls, a thread on average
    CALL = "call"  # time in a procedure, a thread on average
    PLACE = "place"  # the same at one place of the program
    WAIT = "wait"  # waiting of a kind, a thread on average
    CAUSE = "cause"  # waiting of others that a rank causes by doing something, a thread on average
    REGION = "region"  # time in a region of the program, a thread on average
    COUNTER = "counter"
    TRAFFIC = "traffic"  # numbers of calls and messages, and bytes


class FigureUnit(Enum):
    """Unit of a figure's value."""

    NS = "s"  # written in seconds, held in ns
    FRACTION = ""
    NUMBER = "count"
    BYTES = "bytes"


@dataclass(frozen=True)
class Figure:
    """The name of a figure."""

    family: FigureFamily
    name: str
    unit: FigureUnit = FigureUnit.NS


RUN_TIME = Figure(FigureFamily.RUN, "run time")
ITERATION = Figure(FigureFamily.ITERATION, "iteration")
COMPUTING = Figure(FigureFamily.PART, "computing")
NO_CPU = Figure(FigureFamily.PART, "waiting for a CPU")
WAITING = Figure(FigureFamily.PART, "waiting for others")
STARTING = Figure(FigureFamily.PART, "starting and ending MPI")
TRANSFER = Figure(FigureFamily.PART, "MPI and the network")
TRACER = Figure(FigureFamily.PART, "the tracer")
REST = Figure(FigureFamily.PART, "the rest")
PARTS = (COMPUTING, NO_CPU, WAITING, TRANSFER, STARTING, TRACER, REST)
"""Parts of the run time, in the order in which reports list them."""

PARALLEL, BALANCE, COMMUNICATION, SERIALIZATION, TRANSFER_FACTOR = EFFICIENCIES = tuple(
    Figure(FigureFamily.EFFICIENCY, name, FigureUnit.FRACTION)
    for name in ("parallel", "load balance", "communication", "serialization", "transfer")
)
IPC = Figure(FigureFamily.COUNTER, "instructions per cycle", FigureUnit.FRACTION)

ADDITIVE = frozenset(FigureFamily) - {FigureFamily.EFFICIENCY, FigureFamily.ITERATION, FigureFamily.RUN}
"""Families in which a figure that a run does not have counts as 0."""


@dataclass(frozen=True)
class RunFigures:
    """The figures of one run.

    values: by figure, those not known left out. samples: of some figures the mean of an iteration, in each of several
    batches of neighbouring iterations, float64 of shape (batches,). by_rank: computing of each rank, ns; rank_samples:
    the same of an iteration in each batch, (batches, ranks). threads: of all ranks.
    """

    file: str
    command: str
    ranks: int
    threads: int
    values: dict[Figure, float]
    by_rank: np.ndarray
    samples: dict[Figure, np.ndarray] = field(default_factory=dict)
    rank_samples: np.ndarray | None = None
    iterations: int = 0  # of the main loop; 0: none was found
    body: str = ""  # what one does, in words
    waiting_at: dict[str, float] = field(default_factory=dict)  # ns a thread, by the name of a PLACE or CALL
    shares_cpus: bool = False  # there are more ranks than CPUs for them
    notes: tuple[str, ...] = ()  # what is not known of it, and why
    left_out: tuple[LeftOut, ...] = ()  # calls that take no time on the ideal network though they move data

    @property
    def batches(self) -> int:
        """How many samples there are of each figure that has any."""
        return 0 if self.rank_samples is None else len(self.rank_samples)
