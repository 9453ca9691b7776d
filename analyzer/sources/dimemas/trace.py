"""Programs as a `Trace`, with the times of their replay on an ideal machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast
from weakref import finalize

import numpy as np

from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.program.model import Program, has_ports
from analyzer.recording.run.opening import open_run
from analyzer.replay.predicted import write_predicted
from analyzer.replay.recorded import PROCEDURES, regions_of
from analyzer.replay.simulate import ReplayPrediction, simulate
from analyzer.signal_handling import discard
from analyzer.sources.dimemas.reader import read_dim
from analyzer.temporary_files import temporary_folder
from analyzer.trace import Chosen, Communicator, Leftovers, Losses, Nodes, Origin, Problem, Regions, Trace, TracerTime
from analyzer.trace.chosen import Choice
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from analyzer.trace.trace import Kind

_NO_TIMES = "a Dimemas trace has no times: the times shown are those of its replay on an ideal machine"


_OF_THE_REPLAY = (Leftovers, TracerTime)
_OF_A_CHOICE = (Chosen, Losses)


@dataclass(frozen=True, kw_only=True)
class _ReplayedRegions(Regions):
    """Regions of a program. Their names are known without a replay; their times come from the replay."""

    replay: Callable[[], Regions]

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self.replay().marks(rank, begin, end)

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self.replay().events(rank, begin, end)


class ProgramTrace(Trace):
    """Trace of a program, whose calls, messages and states come from its replay on an ideal machine.

    The replay takes place at their first use, and is written to a temporary file. Communicator k + 1 of the program is
    communicators[k] (`communicators_of`).
    """

    def __init__(
        self,
        program: Program,
        communicators: tuple[Communicator, ...],
        path: str,
        command: str = "",
        choice: Choice | None = None,
        sizes: ReadSizes = DEFAULT_SIZES,
    ) -> None:
        """Set up the trace. `choice`: ranks that are shown; all ranks are replayed. None: all are shown."""
        if choice:
            choice.of(program.ranks, path)
        self._choice, self.sizes = choice, sizes
        self.program, self.communicators = program, communicators
        self.path, self.origin = path, Origin(command, predicted=True)
        self.size = program.ranks
        self.procedures = PROCEDURES
        self._regions = tuple(f"region {number}" for number in regions_of(program))
        self.threads = np.bincount(program.rank, minlength=self.size).astype(np.int32)
        self.nodes = Nodes.on_one_node(self.size, int(self.threads.sum()))
        self.event_labels = {}
        self._remove: finalize | None = None

    @cached_property
    def duration_ns(self) -> int:  # type: ignore[override]
        """Length of the ideal replay, ns. 0 if the replay does not come to an end; `problems` then says why."""
        return self._alone[0]

    @cached_property
    def problems(self) -> list[Problem]:  # type: ignore[override]
        """Note that the times are not measured, and, if the program cannot be replayed alone, the reason."""
        return [Problem(-1, _NO_TIMES, note=True), *self._alone[1]]

    @cached_property
    def _alone(self) -> tuple[int, tuple[Problem, ...]]:
        assert self.program is not None
        if has_ports(self.program):
            return 0, (Problem(-1, "it sends messages to other applications: replay it with them (--app)", note=True),)
        try:
            return self._ideal().end_ns, ()
        except TracelibError as error:  # a machine with an eager limit may replay it all the same
            return 0, (Problem(-1, f"on an ideal machine {error}"),)

    def _ideal(self, *, times: bool = False) -> ReplayPrediction:
        assert self.program is not None
        return simulate(self.program, Machine.ideal(), times=times)

    @cached_property
    def _run(self) -> Trace:
        """Ideal replay of the program, opened as a run."""
        assert self.program is not None
        prediction = self._ideal(times=True)
        folder = temporary_folder()
        self._remove = finalize(self, discard, folder)
        path = folder / "ideal.h5"
        write_predicted(self, self.program, prediction, path, "ideal")
        run = open_run(str(path), options=ReadOptions(choice=self._choice, sizes=self.sizes))
        self.event_labels |= run.event_labels
        return run

    def extra(self, kind: type[Kind]) -> Kind:
        if kind is Regions:
            return cast(Kind, _ReplayedRegions(self._regions, replay=lambda: self._run.extra(Regions)))
        of_the_replay = kind in _OF_THE_REPLAY or (self._choice is not None and kind in _OF_A_CHOICE)
        return self._run.extra(kind) if of_the_replay else super().extra(kind)

    def span(self, rank: int) -> tuple[int, int]:
        return self._run.span(rank)

    def windows(self, records: int = 262144) -> np.ndarray:
        return self._run.windows(records)

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        return self._run.calls(rank, begin, end)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        return self._run.requests(rank, begin, end)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return self._run.states(begin, end, ranks)

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return self._run.events(begin, end, ranks)

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._run.messages(begin, end)

    def close(self) -> None:
        if self._remove is not None:
            self._run.close()
            self._remove()


def open_dim(
    path: str | os.PathLike[str], choice: Choice | None = None, sizes: ReadSizes = DEFAULT_SIZES
) -> ProgramTrace:
    """Open a Dimemas trace as a `Trace` with the times of its ideal replay.

    Args:
        path: The file.
        choice: Ranks that are shown. None: all.
        sizes: Amounts in which the file is read.

    Raises:
        TracelibError: The file cannot be understood.
    """
    found = read_dim(path, sizes.text_bytes)
    return ProgramTrace(found.program, found.communicators, os.fspath(path), found.name, choice, sizes)
