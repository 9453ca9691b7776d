"""Bytes a call of real programs, packed afterwards and compressed while they run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import h5py

from analyzer.writers.packed import pack_run
from benchmarks.mpi import ROOT, WORK, Mpi, remove_run
from benchmarks.recording import Figure
from tracelib import schema

HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
RANKS = 4
OFF = {"TRACELIB_CPUTIME": "off"}


def programs() -> Iterator[tuple[str, list[str]]]:
    """Yield LAMMPS and hpcc, if they are installed."""
    WORK.mkdir(parents=True, exist_ok=True)
    if shutil.which("lmp"):
        yield "LAMMPS", ["lmp", "-in", str(ROOT / "mpi_tests" / "apps" / "inputs" / "lammps" / "in.lj")]
    if shutil.which("hpcc"):
        packed = HPCC_INPUT.with_name(HPCC_INPUT.name + ".gz")
        text = subprocess.run(
            ["zcat", "-f", packed if packed.exists() else HPCC_INPUT], capture_output=True, check=True
        )
        (WORK / "hpccinf.txt").write_bytes(text.stdout)
        yield "hpcc", ["hpcc"]


def rank_files(name: str) -> list[Path]:
    return sorted((WORK / f"{name}.ranks").glob("[0-9]*.h5"))


def calls_and_bytes(path: Path) -> tuple[int, int]:
    """Count rows of `calls` (failing polls share theirs in `polls`), and the bytes of the rows of all tables."""
    with h5py.File(path) as file:
        return len(file["calls"]), sum(file[table].id.get_storage_size() for table in schema.BUFFERED)


def polls_a_call(calls: int) -> str:
    """Return rows of `polls` for each of `calls`: their number depends on waiting, and they take room."""
    rows = 0
    for path in rank_files("packing"):
        with h5py.File(path) as file:
            rows += len(file["polls"])
    return f"with {rows / calls:.2f} rows of polls a call" if rows else "no polls"


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Yield the packed file by the calls in it, and the stored rows of a run compressed live."""
    for program, words in programs():
        mpi.run(RANKS, words[0], *words[1:], traced="packing", options=OFF, bind=False)
        calls = sum(calls_and_bytes(path)[0] for path in rank_files("packing"))
        packed = pack_run(str(WORK / "packing.h5"), WORK / "packing.packed.h5")
        note = f"the whole file, {polls_a_call(calls)}"
        yield Figure(f"{program}, analyze pack", packed.size_bytes / calls, "bytes a call", 10, note)
        mpi.run(RANKS, words[0], *words[1:], traced="packing", options={"TRACELIB_COMPRESS": "6"} | OFF, bind=False)
        found = [calls_and_bytes(path) for path in rank_files("packing")]
        calls = sum(calls for calls, _ in found)
        value = sum(stored for _, stored in found) / calls
        disk = sum(path.stat().st_blocks * 512 for path in rank_files("packing")) / calls
        note = f"rows, {polls_a_call(calls)}; {disk:.0f} with the files"
        yield Figure(f"{program}, TRACELIB_COMPRESS=6", value, "bytes a call", 10, note)
        remove_run("packing")
