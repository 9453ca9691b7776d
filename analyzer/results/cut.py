"""Result of `analyze cut`: some iterations of a run, written as a small run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from analyzer.atomic_file import temporary_name
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.report.words import units
from analyzer.report.words.table import plain_table
from analyzer.results.open_part import RunOpener
from analyzer.results.output_files import check_writable, output_base, stem
from analyzer.results.result import Result, print_lines
from analyzer.results.write_traces import write_dimemas, write_paraver
from analyzer.signal_handling import discard
from analyzer.structure.cut.chosen_iterations import FEWEST, typical_stretch
from analyzer.structure.cut.cut_run import RunCut, write_cut
from analyzer.structure.iterations import Iterations
from analyzer.trace import Trace

FAR = 0.02
"""A remark is made if the efficiencies of the cut and of the whole loop differ by more than this (0 to 1)."""
KINDS = (".h5", ".prv", ".dim")
"""Endings of the file names that a cut may have."""


@dataclass(frozen=True, repr=False)
class CutResult(Result):
    """Part of a run that was written as a run of its own.

    Attributes:
        paths: Files that were written. The first one is the run.
        content: What the part is, such as "iterations 3 to 5 of 100".
        bytes_before: Size of the whole run.
        bytes_after: Size of the part.
        first_iteration: Number of the first iteration, from 1. None: the part was named by times.
    """

    paths: tuple[Path, ...]
    content: str
    _edges: RunCut
    bytes_before: int
    bytes_after: int
    first_iteration: int | None

    @property
    def path(self) -> Path:
        """Path of the small run."""
        return self.paths[0]

    @property
    def begin_s(self) -> float:
        """Begin of the part, seconds of the whole run."""
        return self._edges.begin_ns / 1e9

    @property
    def end_s(self) -> float:
        """End of the part, seconds of the whole run."""
        return self._edges.end_ns / 1e9

    def to_dict(self) -> dict[str, Any]:
        return {
            "files": [str(path) for path in self.paths],
            "first_iteration": self.first_iteration,
            "begin_s": self.begin_s,
            "end_s": self.end_s,
            "bytes": self.bytes_after,
            "bytes_before": self.bytes_before,
            "messages": self._edges.messages,
            "messages_sent_before": self._edges.messages_in,
            "messages_received_later": self._edges.messages_out,
            "collective_calls_left_out": self._edges.collectives,
        }

    def print(self, console: Console) -> None:
        length = units.time(self._edges.end_ns - self._edges.begin_ns)
        shorter = f"{units.size(self.bytes_after)}, {units.size(self.bytes_before)} before"
        at = f"{self._edges.begin_ns / 1e9:.6g} s"
        print_lines(console, [f"{self.path}: {self.content}, {length} from {at} on; {shorter}"])
        if text := edges_text(self._edges):
            print_lines(console, [text])


@dataclass(frozen=True)
class LoopCut:
    """Cut of one loop.

    Attributes:
        number: Number of the loop, from 1.
        loop: The loop.
        first: First iteration in the cut, from 0.
        count: Number of iterations in the cut.
        result: The cut.
    """

    number: int
    loop: Iterations
    first: int
    count: int
    result: CutResult

    @property
    def line(self) -> str:
        """One line with the name of the file, its number of iterations and its size."""
        return f"{self.result.path}: {units.plural(self.count, 'iteration')}, {units.size(self.result.bytes_after)}"


@dataclass(frozen=True, repr=False)
class LoopCutsResult(Result):
    """Cuts of all loops of a run, and how much smaller they are.

    Attributes:
        file: Path of the run.
        bytes_before: Size of the whole run.

    Source: Casas 2009, section 3.7.3, table 3.8 and figure 3.10.
    """

    file: str
    _cuts: Sequence[LoopCut]
    bytes_before: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "bytes": self.bytes_before,
            "cuts": [
                {
                    "loop": one.number,
                    "level": one.loop.level,
                    "iterations": one.count,
                    "of_iterations": one.loop.count,
                    **one.result.to_dict(),
                }
                for one in self._cuts
            ],
            "levels": [
                {
                    "level": level, "cuts": cuts, "mean_bytes": mean,
                    "times_smaller": self.bytes_before / mean if mean else None,
                }
                for level, cuts, mean in self._levels()
            ],
        }  # fmt: skip

    def print(self, console: Console) -> None:
        table = plain_table("loop", "level", "iterations", "from", "span", "size", "file")
        for one in self._cuts:
            last = one.first + one.count
            which = f"{one.first + 1}" if one.count == 1 else f"{one.first + 1}-{last}"
            table.add_row(
                str(one.number),
                str(one.loop.level),
                f"{which} of {one.loop.count}",
                units.time(one.result._edges.begin_ns),
                units.time(one.result._edges.end_ns - one.result._edges.begin_ns),
                units.size(one.result.bytes_after),
                one.result.path.name,
            )
        console.print(table)
        for level, cuts, mean in self._levels():
            shorter = f"{self.bytes_before / mean:.3g} times smaller than {units.size(self.bytes_before)}"
            size = f"{units.size(round(mean))} on average"
            console.print(f"Level {level}: {units.plural(cuts, 'cut')}, {size}, {shorter}")
        for one in self._cuts:
            if edges := edges_text(one.result._edges):
                console.print(f"Loop {one.number}: {edges[0].lower()}{edges[1:]}", markup=False)

    def _levels(self) -> list[tuple[int, int, float]]:
        """Count the cuts of each level, with their mean size in bytes."""
        by_level = groupby(self._cuts, key=lambda one: one.loop.level)
        sizes = [(level, [one.result.bytes_after for one in some]) for level, some in by_level]
        return [(level, len(some), sum(some) / len(some)) for level, some in sizes]


def edges_text(edges: RunCut) -> str:
    """Return a sentence about messages and collectives whose other side lies outside of the cut. "": there are none."""
    crossed = edges.messages_in + edges.messages_out
    if not crossed and not edges.collectives:
        return ""
    lack = units.verb(crossed, "lacks its", "lack their")
    return (
        f"At the edges {units.plural(crossed, 'message')} of {edges.messages + crossed} {lack} other side, and "
        f"{units.plural(edges.collectives, 'call')} of collectives other members: they keep their time only"
    )


def choose_iterations(
    trace: Trace, host: RunOpener, found: Iterations, count: int | None, first: int | None
) -> tuple[int, int]:
    """Choose iterations of a loop that are to be cut out. Collective over the team.

    Args:
        trace: The run.
        host: The program that opened it.
        found: The loop.
        count: Number of iterations. None: as many as are needed for the efficiencies of the whole loop.
        first: First iteration, from 1. None: the most typical iterations are chosen.

    Returns:
        The first iteration, from 0, and the number of iterations.

    Raises:
        TracelibError: The loop has fewer iterations.
    """
    least = FEWEST if first else 1
    if (first or 1) + (count or least) - 1 > found.count:
        raise TracelibError(f"{trace.path}: there are {found.count} iterations of level {found.level}", "ask for fewer")
    if first:
        return first - 1, count or FEWEST
    stretch = typical_stretch(trace, host.team, found, count)
    if stretch.off > FAR:
        off = f"by up to {100 * stretch.off:.2g} percentage points"
        host.mention([f"These iterations differ {off} from the efficiencies of the whole loop: keep more"])
    return stretch.first, stretch.count


def path_of_cut(trace: Trace, output: str | None, number: int | None = None) -> Path:
    """Return the path at which a cut of a run is written: by default NAME-cut.h5 in the folder of the run.

    Args:
        trace: The run.
        output: Path that the user asked for. None: the default.
        number: Number of the loop, which is added to the name (NAME-cut-2.h5). None: no number is added.
    """
    path = Path(trace.path).with_name(f"{stem(Path(trace.path))}-cut.h5")
    if output:
        path = output_base(Path(trace.path), output, ())
    path = path if path.suffix in KINDS else path.with_name(f"{path.name}.h5")
    return path if number is None else path.with_name(f"{path.stem}-{number}{path.suffix}")


def write_part(
    trace: Trace, windows: NDArray[np.int64], path: Path, host: RunOpener, *, content: str = "",
    first: int | None = None,
    force: bool = False,
) -> CutResult:  # fmt: skip
    """Write what ranks do in their windows as the run `path`. Collective over the team.

    Args:
        trace: The whole run.
        windows: Begin and end of each rank, ns, shape (ranks, 2).
        path: Path of the new run. For .prv and .dim, a temporary run is written first.
        host: The program that opened the run.
        content: What the part is, in words.
        first: Number of its first iteration, from 1. None: the part is not made of iterations.
        force: Whether an existing file that is no trace may be replaced.
    """
    check_writable(path, trace, force)
    paths, edges = _write(trace, windows, path, host, force=force)
    after = sum(one.stat().st_size for one in paths if one.exists())
    return CutResult(tuple(paths), content, edges, bytes_of(Path(trace.path)), after, first)


def _write(
    trace: Trace, windows: NDArray[np.int64], path: Path, host: RunOpener, *, force: bool
) -> tuple[Sequence[Path], RunCut]:
    if path.suffix == ".h5":
        with host.step(f"Writing {path}"):
            return [path], write_cut(trace, host.team, windows, path)
    part = host.team.bcast(temporary_name(path.with_suffix(".h5"), "cut"))
    try:
        edges = write_cut(trace, host.team, windows, part, called=path)
        host.team.barrier()
        run = open_trace(part, host.team)
        try:
            base = path.with_suffix("")
            if path.suffix == ".prv":
                return write_paraver(run, base, host, force), edges
            return [write_dimemas(run, base, host, force).path], edges
        finally:
            run.close()
    finally:
        host.team.barrier()
        if host.team.rank == 0:
            discard(part)


def bytes_of(path: Path) -> int:
    """Return the size of a run in bytes: its file and its rank files, or a Paraver trace with its .pcf and .row."""
    text = path.with_name(path.name.removesuffix(".gz"))
    ranks = path.with_suffix(".ranks") if path.suffix == ".h5" else path
    files = [path] if path.is_file() else []
    if text.suffix == ".prv":
        files += [label for ending in (".pcf", ".row") if (label := text.with_suffix(ending)).is_file()]
    files += list(ranks.glob("*.h5")) if ranks.is_dir() else []
    return sum(one.stat().st_size for one in files)
