"""A finding: something that makes a run longer, and by how much at most."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from analyzer.efficiency.cpu_use import Cpus
from analyzer.efficiency.factors import Efficiency
from analyzer.evenness.evenness import Evenness
from analyzer.in_notebook import InNotebook
from analyzer.metrics.profile import Profile
from analyzer.metrics.regions import RegionProfile
from analyzer.metrics.useful import Useful
from analyzer.trace import UnfinishedCall
from analyzer.waits.waits import Waits


class Kind(Enum):
    """What makes the run longer."""

    IMBALANCE = "load imbalance"  # the thread that computes longest computes longer than the mean
    SERIALIZATION = "serialization"  # ranks wait for each other even where messages take no time
    TRANSFER = "transfer"  # messages and calls take time
    COMMUNICATION = "communication"  # both together, where no replay tells them apart
    NEITHER = "neither computing nor MPI"  # of a run without MPI calls
    NOT_THERE = "not in the trace"  # the run went on after the last record
    STARTING = "starting and ending MPI"
    MOVING = "moving imbalance"  # even sums, uneven iterations
    SLOW = "slow iterations"
    DRIFT = "drift"  # iterations that become longer, or shorter
    PIPELINE = "pipeline"  # ranks that wait one for the other
    CPUS = "shared CPUs"
    THREADS = "threads that share CPUs"
    ASLEEP = "sleep outside MPI"  # for files, children, timers, locks
    TRACER = "the tracer"
    HANG = "calls that did not return"  # killed ranks were in them until the end


FACTORS = (Kind.IMBALANCE, Kind.SERIALIZATION, Kind.TRANSFER, Kind.COMMUNICATION, Kind.NEITHER, Kind.NOT_THERE,
           Kind.STARTING)  # fmt: skip
"""What the time that is not computation is the sum of: their costs do not overlap."""

PART_OF = {
    Kind.MOVING: (Kind.SERIALIZATION, Kind.COMMUNICATION),
    Kind.SLOW: (Kind.SERIALIZATION, Kind.COMMUNICATION),
    Kind.PIPELINE: (Kind.SERIALIZATION, Kind.COMMUNICATION),
    Kind.HANG: (Kind.SERIALIZATION, Kind.TRANSFER, Kind.COMMUNICATION),
    Kind.CPUS: (Kind.TRANSFER, Kind.COMMUNICATION),
}
"""Reasons, and what each explains: where it costs half as much, the other need not be told."""


class Sure(Enum):
    """What the cost of a finding is made of."""

    MEASURED = "measured"  # times of the run
    BOUND = "bound"  # the same, of more than is meant: a CPU was lacking, whether or not it was wanted
    REPLAYED = "replayed"  # the run on an ideal network
    ESTIMATED = "estimated"
    UNKNOWN = "not known"  # at least this much, but nothing says how much more


@dataclass(frozen=True)
class Evidence:
    """What is known of a run; arrays by rank are int64 of shape (ranks,)."""

    efficiency: Efficiency
    useful: Useful
    computed_ns: np.ndarray  # what the efficiencies are made of: useful time of ranks, or of threads,
    computed_by: np.ndarray  # and the rank of each
    profile: Profile
    waits: Waits
    regions: RegionProfile
    cpus: Cpus
    others_ns: np.ndarray  # how long threads that make no call had or wanted a CPU, by rank
    even: Evenness | None  # None: the run has no iterations, or they were not looked for
    threads: np.ndarray
    present: np.ndarray  # numbers of the ranks that could be read
    after_ns: int  # how long the run went on after the last record
    unfinished: tuple[UnfinishedCall, ...]  # calls that killed ranks did not come back from
    tracer_ns: np.ndarray  # the tracer's own time, as far as it is no computation


@dataclass(frozen=True)
class Finding(InNotebook):
    """`cost_ns` is what the run would be shorter without it, at most; costs of several findings may overlap."""

    kind: Kind
    cost_ns: int
    share: float  # of the run: cost_ns / runtime of the efficiencies
    sure: Sure
    rank: int = -1  # the one to look at; -1: all, or none
    call: str = ""  # procedure in which the time goes, or others wait
    region: str = ""  # of the program
    number: int = 0  # of several findings of this kind which, from 0
