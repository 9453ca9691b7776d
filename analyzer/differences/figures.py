"""Figures of a run that are compared, each under a name that is the same in another run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from analyzer.program.model import LeftOut


class FigureFamily(Enum):
    """Family of figures that describe the same kind of quantity.

    The figures of PART sum up to the run time. The times of other families overlap with them. "A thread on average" is
    the sum over all threads divided by the number of threads.
    """

    RUN = "run"  # the run time
    PART = "part"  # what a thread does on average; the sum of all parts is the run time
    ITERATION = "iteration"  # one pass of the main loop
    EFFICIENCY = "efficiency"
    RANK = "rank"  # computing time of one rank
    COMPUTING = "computing"  # computing time between two calls, a thread on average
    CALL = "call"  # time in a procedure, a thread on average
    PLACE = "place"  # time in a procedure that is called from one place, a thread on average
    WAIT = "wait"  # time in wait states of one kind, a thread on average
    CAUSE = "cause"  # waiting of other ranks that one activity of a rank causes, a thread on average
    REGION = "region"  # time in a region of the program, a thread on average
    COUNTER = "counter"
    TRAFFIC = "traffic"  # numbers of calls and messages, and their bytes


class FigureUnit(Enum):
    """Unit of a figure: the value of the enum is the unit in reports."""

    NS = "s"  # written in seconds, held in ns
    FRACTION = ""
    NUMBER = "count"
    BYTES = "bytes"


@dataclass(frozen=True)
class Figure:
    """Name of a figure, with its family and unit. Runs are compared by equal names."""

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
    """Figures of one run, and samples of them by batch of neighbouring iterations.

    values: by figure, in the figure's unit (ns for times). A figure that is not known is left out.
    samples: for some figures, the mean of an iteration in each batch, float64 of shape (batches,).
    by_rank: computing time of each rank, ns, float64 of shape (ranks,).
    rank_samples: computing time of each rank in an iteration, ns, shape (batches, ranks). None: no batches.
    threads: number of threads of all ranks.
    """

    file: str
    command: str
    ranks: int
    threads: int
    values: dict[Figure, float]
    by_rank: np.ndarray
    samples: dict[Figure, np.ndarray] = field(default_factory=dict)
    rank_samples: np.ndarray | None = None
    iterations: int = 0  # number of iterations of the main loop; 0: no loop was found
    body: str = ""  # what an iteration does, in words
    waiting_at: dict[str, float] = field(default_factory=dict)  # waiting, ns a thread, by name of a PLACE or CALL
    shares_cpus: bool = False  # there are more ranks than CPUs for them
    notes: tuple[str, ...] = ()  # what is not known about the run, and why
    left_out: tuple[LeftOut, ...] = ()  # calls that take no time on the ideal network though they move data

    @property
    def batches(self) -> int:
        """Number of batches, which is the number of samples of each figure that has samples."""
        return 0 if self.rank_samples is None else len(self.rank_samples)
