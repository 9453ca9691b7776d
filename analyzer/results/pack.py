"""Result of `analyze pack`: a run in one compressed file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.opening import foreign_trace
from analyzer.report.words.units import plural, size
from analyzer.results.open_part import RunOpener
from analyzer.results.output_files import stem
from analyzer.results.result import Result, print_lines
from analyzer.writers.packed import pack_run


@dataclass(frozen=True, repr=False)
class PackResult(Result):
    """A compressed copy of a run.

    Attributes:
        path: Path of the copy.
        ranks: Number of ranks.
        calls: Number of calls.
        bytes_before: Size of the run.
        bytes_after: Size of the copy.
        bytes_per_call: Bytes of the copy for each call.
    """

    path: Path
    ranks: int
    calls: int
    bytes_before: int
    bytes_after: int
    bytes_per_call: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "ranks": self.ranks,
            "calls": self.calls,
            "bytes": self.bytes_after,
            "bytes_before": self.bytes_before,
            "bytes_per_call": self.bytes_per_call,
        }

    def print(self, console: Console) -> None:
        calls = f"{plural(self.calls, 'call')} in {size(self.bytes_after)}, {self.bytes_per_call:.1f} bytes a call"
        print_lines(console, [f"{self.path}: {calls} ({size(self.bytes_before)} before)"])


def compute(
    file: str, host: RunOpener, *, output: str | None = None, codec: str = "gzip", force: bool = False
) -> PackResult:
    """Write a run into one compressed file. One process does it.

    Args:
        file: Path of the run.
        host: The program that packs.
        output: Name of the copy, or a folder for it. None: NAME-packed.h5 beside the run.
        codec: Name of the compression, from `analyzer.writers.hdf5_groups.CODECS`.
        force: Whether an existing file is replaced.

    Raises:
        TracelibError: The file exists, or is no run of tracelib.
    """
    path = Path(output) if output else Path(file).parent / f"{stem(Path(file))}-packed.h5"
    if path.is_dir():
        path /= f"{stem(Path(file))}-packed.h5"
    if path.exists() and not force:
        raise TracelibError(f"{path} exists", "name another output with -o, or use --force")
    if path.exists() and path.samefile(file):
        raise TracelibError(f"{path} is the run that is read", "name another output with -o NAME")
    if said := foreign_trace(file):
        raise TracelibError(
            f"{file}: traces of {said} are not packed, only runs of tracelib", "compress it with gzip or tar"
        )
    with host.step(f"Writing {path}"):
        found = pack_run(file, path, codec)
    return PackResult(path, found.ranks, found.calls, found.before_bytes, found.size_bytes, found.bytes_a_call)
