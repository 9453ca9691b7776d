"""Divides the computation of a program into blocks that a replay can scale: by region, or by the calls around it.

Source: "Dimemas specification", section 1.13 (thesis, section 3.7.3): CPU bursts inside blocks that the program marked
are multiplied by a factor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analyzer.operations.region_events import are_of_regions, region_of_each
from analyzer.pairing.call_paths import CallsByRank
from analyzer.places.call_gaps import CallGaps
from analyzer.places.phrases import computing_at
from analyzer.program.model import Program, pieces, rewritten, rewritten_together
from analyzer.program.operation import COLLECTIVE_NAMES, OperationFlag, OperationKind, between_calls
from analyzer.replay.recorded import regions_of
from analyzer.trace import CallPaths, Regions, Trace


@dataclass(frozen=True)
class BlockProgram:
    """Program whose bursts are divided into blocks, and the named parts that consist of these blocks.

    A part is a region, or the computation between two calls. Each operation has the block of its burst.
    """

    program: Program
    names: tuple[str, ...]  # name of each part
    member: np.ndarray  # bool (parts, blocks): True if the part has the block; nested regions have common blocks
    computing_ns: np.ndarray  # int64 (blocks,): bursts of all ranks, ns; block 0 is in no part

    def part(self, name: str) -> int:
        """Return the index of the part with this name. Raises ValueError if there is none."""
        return self.names.index(name)

    def part_ns(self, part: int) -> int:
        """Return the computing time of a part, in ns, summed over the ranks."""
        return int(self.computing_ns[self.member[part]].sum())

    def scaled(self, factors: dict[int, float]) -> Program:
        """Return the program with the bursts of some parts multiplied by factors.

        Args:
            factors: Factor by index of the part. A burst in several parts is multiplied by the factor of each.
        """
        return replace(self.program, factors=self.block_factors(factors))

    def block_factors(self, factors: dict[int, float]) -> np.ndarray:
        """Convert factors by part to factors by block.

        Args:
            factors: Factor by index of the part.

        Returns:
            float64 of shape (blocks,). A block in several parts has the product of their factors.
        """
        found = np.ones(self.member.shape[1])
        for part, factor in factors.items():
            found[self.member[part]] *= factor
        return found


def blocks_of_regions(trace: Trace, program: Program, ranks: frozenset[int] | None = None) -> BlockProgram:
    """Divide the computation by region. Each region that computes is a part, which includes the regions inside it.

    Args:
        trace: The trace.
        program: The trace's program.
        ranks: Ranks whose computation is divided. None: all ranks.
    """
    names = trace.extra(Regions).names
    numbered = tuple(range(1, len(names) + 1))
    contexts = _Contexts(numbered if trace.program is None else regions_of(trace.program))

    def divide(stream: int, ops: np.ndarray) -> None:
        if ranks is None or int(program.rank[stream]) in ranks:
            contexts.number(ops)
        else:
            ops["block"] = 0

    divided = rewritten(program, divide)
    return _blocks(divided, names, contexts.member())


class _Contexts:
    """Numbers, from 1, of the sets of regions that are open while the program computes."""

    def __init__(self, values: tuple[int, ...]) -> None:
        self._values = values
        self._numbers: dict[bytes, int] = {}

    def number(self, ops: np.ndarray) -> None:
        """Set the blocks of one stream's operations.

        A burst is in the regions that are open after the last event before it.
        """
        events = np.flatnonzero(are_of_regions(ops))
        open_ = self._open_after(ops["other"][events])
        packed = np.packbits(np.concatenate([np.zeros((1, len(self._values)), bool), open_]), axis=1)
        sets, which = np.unique(packed, axis=0, return_inverse=True)
        numbers = np.array([self._numbers.setdefault(row.tobytes(), len(self._numbers) + 1) for row in sets], np.uint32)
        lengths = np.diff(np.concatenate([[0], events + 1, [len(ops)]]))
        ops["block"] = np.repeat(numbers[which.ravel()], lengths)

    def _open_after(self, value: np.ndarray) -> np.ndarray:
        """Mark the regions that are open after each event. Value 0 ends the innermost region.

        Returns bool of shape (events, regions).
        """
        region = region_of_each(value)
        step = np.where(value > 0, 1, -1)
        return np.column_stack(
            [np.cumsum(np.where(region == wanted, step, 0)) > 0 for wanted in self._values]
            or [np.zeros((len(value), 0), bool)]
        )

    def member(self) -> np.ndarray:
        """Return a mask of the blocks that each region contains, of shape (regions, blocks)."""
        found = np.zeros((len(self._values), len(self._numbers) + 1), bool)
        for row, number in self._numbers.items():
            bits = np.unpackbits(np.frombuffer(row, np.uint8))[: len(self._values)]
            found[:, number] = bits.astype(bool)
        return found


def blocks_between_calls(
    trace: Trace, program: Program, ranks: frozenset[int] | None = None, chosen: np.ndarray | None = None
) -> BlockProgram:
    """Divide the computation by the two calls around it.

    If the places of both calls are known, a part has the name of the code between them ("computing at smooth.c:40-61 in
    smooth before MPI_Send"). If not, the name is "MPI_Recv ... MPI_Send".

    Args:
        trace: The trace.
        program: The trace's program.
        ranks: Ranks whose computation is divided. None: all ranks.
        chosen: bool by row of CallPaths.tables. Only computation next to a chosen call has parts. None: all calls.
    """
    divider = _Divider(trace, program, ranks, chosen)
    divided = rewritten_together(program, divider.divide)
    parts = len(divider.labels.every)
    member = np.concatenate([np.zeros((parts, 1), bool), np.eye(parts, dtype=bool)], axis=1)
    return _blocks(divided, tuple(divider.labels.every), member)


class _Divider:
    """Finds the block of each operation by the calls around its burst, for several neighbouring streams at once."""

    def __init__(self, trace: Trace, program: Program, ranks: frozenset[int] | None, chosen: np.ndarray | None) -> None:
        self._trace, self._program, self._ranks, self._chosen = trace, program, ranks, chosen
        names = ("start", *_call_names(trace), "end")
        self.labels, self._end, self._of_ranks = _Labels(trace, names), len(names) - 1, CallsByRank(trace)

    def divide(self, streams: range, ops: np.ndarray, cuts: np.ndarray) -> None:
        """Set the blocks of the operations of neighbouring streams.

        Arguments are as `rewritten_together` gives them.
        """
        of_call = (ops["kind"] != OperationKind.EVENT) & ((ops["flags"] & OperationFlag.FIRST) > 0)
        begun = np.concatenate([[0], np.cumsum(of_call)])
        calls, paths, length = self._joined(streams, np.split(ops[of_call], begun[cuts[1:-1]]))
        stream = np.repeat(np.arange(len(streams)), np.diff(cuts))
        after = begun[:-1] - begun[cuts[stream]]  # calls that its stream began before the burst of an operation
        at = (np.cumsum(length) - length)[stream] + np.minimum(after, length[stream] - 2)
        computes = (
            between_calls(ops) | (ops["kind"] == OperationKind.PARALLEL) | of_call
        )  # not a call's further operations
        if self._ranks is not None:
            computes &= np.isin(self._program.rank[streams.start : streams.stop], list(self._ranks))[stream]
        at = at[computes]
        is_next = np.diff(at, prepend=-1) > 0
        used = at[is_next]
        numbers = self.labels.numbers(calls[used], calls[used + 1], paths[used], paths[used + 1])
        if self._chosen is not None:
            numbers *= self._chosen[paths[used]] | self._chosen[paths[used + 1]]
        ops["block"] = 0
        ops["block"][computes] = numbers[np.cumsum(is_next) - 1]

    def _joined(self, streams: range, first: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Join the calls of several streams, each between "start" and "end".

        Args:
            streams: The streams.
            first: For each stream, the first operation of each of its calls.

        Returns:
            Calls (index in the names), paths (0: not known), and the number of calls of each stream.
        """
        found = [self._calls(stream, its) for stream, its in zip(streams, first, strict=True)]
        calls = np.concatenate([part for mine, _ in found for part in ([0], mine + 1, [self._end])])
        paths = np.concatenate([part for _, mine in found for part in ([0], mine, [0])])
        return calls, paths, np.array([len(mine) + 2 for mine, _ in found])

    def _calls(self, stream: int, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Read a stream's calls and their paths; none for a rank that is not chosen."""
        if self._ranks is not None and int(self._program.rank[stream]) not in self._ranks:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return _calls(self._trace, self._program, stream, first, self._of_ranks)


MOST_PLACES = 2048
"""Largest number of parts that are named by places. Parts that are met later are named by their calls alone."""


class _Labels:
    """Names of the computation between two calls, numbered from 1 in the order in which they are met."""

    def __init__(self, trace: Trace, names: tuple[str, ...]) -> None:
        self._names, paths = names, trace.extra(CallPaths)
        self._between = CallGaps(paths.named()) if paths.known else None
        self.every: dict[str, int] = {}

    def numbers(self, before: np.ndarray, after: np.ndarray, *paths: np.ndarray) -> np.ndarray:
        """Number stretches of computation by the calls around them (index in `names`) and the paths of both calls."""
        width = len(self._names)
        stretch = self._between.numbers(*paths) if self._between else np.zeros(len(before), np.int64)
        keys, which = np.unique((stretch * width + before) * width + after, return_inverse=True)
        texts = [self._text(key // width // width, key // width % width, key % width) for key in keys.tolist()]
        return np.array([self.every.setdefault(text, len(self.every) + 1) for text in texts], np.uint32)[which]

    def _text(self, stretch: int, before: int, after: int) -> str:
        """Return the name of a stretch of code (0: not known) between two calls (index in `names`)."""
        if stretch and self._between:
            next_ = self._names[after] if after < len(self._names) - 1 else ""
            text = computing_at(self._between.every[stretch], next_, self._names[before])
            if text in self.every or len(self.every) < MOST_PLACES:
                return text
        return f"{self._names[before]} ... {self._names[after]}"


_KIND_NAMES = tuple(sorted(kind.name for kind in OperationKind))


def _call_names(trace: Trace) -> tuple[str, ...]:
    if trace.has_call_times:
        return trace.procedures
    return (*_KIND_NAMES, *(f"MPI_{name}" for name in COLLECTIVE_NAMES))


def _calls(
    trace: Trace, program: Program, stream: int, first: np.ndarray, of_ranks: CallsByRank
) -> tuple[np.ndarray, np.ndarray]:
    """Return the call (index in `_call_names`) and the path (0: not known) of each of a stream's calls.

    Args:
        trace: The trace.
        program: The trace's program.
        stream: The stream.
        first: First operation of each call of the stream.
        of_ranks: Calls and paths by rank.
    """
    if trace.has_call_times:
        threads, calls, paths = of_ranks[int(program.rank[stream])]
        own = np.flatnonzero(threads == program.thread[stream])[: len(first)]
        return calls[own], paths[own]
    kinds = np.array([_KIND_NAMES.index(OperationKind(kind).name) for kind in range(max(OperationKind) + 1)])
    collective = np.isin(first["kind"], (OperationKind.COLLECTIVE, OperationKind.COLLECTIVE_START))
    found = np.where(collective, len(_KIND_NAMES) + first["tag"] % len(COLLECTIVE_NAMES), kinds[first["kind"]])
    return found, np.zeros(len(found), np.int64)


def _blocks(program: Program, names: tuple[str, ...], member: np.ndarray) -> BlockProgram:
    computing = np.zeros(member.shape[1], np.int64)
    for ops in pieces(program):
        np.add.at(computing, ops["block"], ops["burst"])
    return BlockProgram(program, names, member, computing)
