"""Operations as a Trace: what needs times gets those of their replay on an ideal machine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from weakref import finalize

import numpy as np

from analyzer.ending import discard, temporary
from analyzer.errors import TracelibError
from analyzer.operations.operation import Program
from analyzer.operations.streams import has_ports
from analyzer.replay.machine import Machine
from analyzer.replay.predicted import write_predicted
from analyzer.replay.recorded import PROCEDURES, regions_of
from analyzer.replay.simulate import Prediction, simulate
from analyzer.sources.run import RunTrace, open_run
from analyzer.trace import SELF, WORLD, Communicator, Problem, Trace, Unmatched

_NO_TIMES = "these operations have no times: those shown are of their replay on an ideal machine"


def communicators_of(defined: dict[int, tuple[int, ...]], ranks: int) -> tuple[Communicator, ...]:
    """Communicators by id in the order of our own runs: the world, one for each rank alone, then the others."""
    everyone, unused = tuple(range(ranks)), max(defined, default=0) + 1
    world = next((id_ for id_, members in defined.items() if members == everyone), None)
    selves = (Communicator(unused + 1 + rank, (rank,), name=SELF) for rank in everyone)
    others = (Communicator(id_, members) for id_, members in defined.items() if id_ != world)
    return Communicator(unused if world is None else world, everyone, name=WORLD), *selves, *others


class ProgramTrace(Trace):
    """A program whose communicator k + 1 is communicators[k] (`communicators_of`). Its calls, messages and states are
    those of its ideal replay, which is written to a temporary file at their first use."""

    flush_mode = "subtract"
    predicted = True

    def __init__(self, program: Program, communicators: tuple[Communicator, ...], path: str, command: str = "") -> None:
        self.program, self.communicators = program, communicators
        self.path, self.command = path, command
        self.size = program.ranks
        self.procedures = PROCEDURES
        self.region_names = tuple(f"region {number}" for number in regions_of(program))
        self.threads = np.bincount(program.rank, minlength=self.size).astype(np.int32)
        self.nodes, self.cpus = ("node1",), (int(self.threads.sum()),)
        self.node_of = np.zeros(self.size, np.int32)
        self.event_labels = {}
        self._remove: finalize | None = None

    @cached_property
    def duration_ns(self) -> int:  # type: ignore[override]
        """Of its ideal replay; 0 where that comes to no end, which `problems` says."""
        return self._alone[0]

    @cached_property
    def problems(self) -> list[Problem]:  # type: ignore[override]
        """That these are no measured times; and why it cannot be replayed, on the ideal machine alone."""
        return [Problem(-1, _NO_TIMES, note=True), *self._alone[1]]

    @cached_property
    def _alone(self) -> tuple[int, tuple[Problem, ...]]:
        assert self.program is not None
        if has_ports(self.program):
            return 0, (Problem(-1, "it speaks to other applications: replay it with them (--app)", note=True),)
        try:
            return self._ideal().end_ns, ()
        except TracelibError as error:  # a machine with an eager limit may replay it all the same
            return 0, (Problem(-1, f"on an ideal machine {error}"),)

    def _ideal(self, *, times: bool = False) -> Prediction:
        assert self.program is not None
        return simulate(self.program, Machine.ideal(), times=times)

    @cached_property
    def _run(self) -> RunTrace:
        """Its ideal replay."""
        assert self.program is not None
        prediction = self._ideal(times=True)
        folder = temporary(Path(mkdtemp(prefix="analyze-")))
        self._remove = finalize(self, discard, folder)
        path = folder / "ideal.h5"
        write_predicted(self, self.program, prediction, path, "ideal")
        run = open_run(str(path))
        self.event_labels |= run.event_labels
        return run

    def span(self, rank: int) -> tuple[int, int]:
        return self._run.span(rank)

    def windows(self, records: int = 262144) -> np.ndarray:
        return self._run.windows(records)

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        return self._run.calls(rank, begin, end)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        return self._run.requests(rank, begin, end)

    def flushes(self, rank: int) -> np.ndarray:
        return self._run.flushes(rank)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return self._run.states(begin, end, ranks)

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return self._run.events(begin, end, ranks)

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._run.messages(begin, end)

    def unmatched(self) -> list[Unmatched]:
        return self._run.unmatched()

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._run.marks(rank, begin, end)

    def program_events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._run.program_events(rank, begin, end)

    def close(self) -> None:
        if self._remove is not None:
            self._run.close()
            self._remove()
