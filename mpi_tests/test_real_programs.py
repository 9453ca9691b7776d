"""Programs that nobody wrote for this project: same results as untraced, every call counted, every message matched."""

import gzip
import itertools
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import LIBRARY, PROGRAMS
from result import rank_files, read_truth

from analyzer.sources.run import open_run
from analyzer.writers.packed import pack_run

MOST_BYTES_PACKED = 10
"""Of the whole packed file, for each call."""
SCALAPACK = Path("/usr/lib/x86_64-linux-gnu/scalapack")


@dataclass(frozen=True)
class Program:
    """A program: how to prepare its folder, and the part of its output that does not depend on time."""

    command: list[str]
    prepare: Callable[[Path], None]
    result: Callable[[Path, str], list[str]]


def needs(*paths: str | Path) -> None:
    """Skip where a program or its data is not installed."""
    for path in paths:
        if not (shutil.which(path) or Path(path).exists()):
            pytest.skip(f"{path} is not installed")


def text_of(path: Path) -> str:
    """A file that Debian may have compressed."""
    packed = path.with_name(path.name + ".gz")
    return gzip.decompress(packed.read_bytes()).decode() if packed.exists() else path.read_text()


def lammps() -> Program:
    """Lennard-Jones fluid: the thermodynamic table."""
    needs("lmp")

    def table(folder: Path, stdout: str) -> list[str]:
        return re.findall(r"^ +\d+(?: +-?[\d.]+){5} *$", stdout, re.MULTILINE)

    return Program(["lmp", "-in", str(PROGRAMS / "in.lj")], lambda folder: None, table)


def hpcc() -> Program:
    """HPC Challenge, its smallest sizes: residuals and error counts."""
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    needs("hpcc", example.parent)

    def prepare(folder: Path) -> None:
        (folder / "hpccinf.txt").write_text(text_of(example).replace("1000         Ns", "400          Ns"))

    def checks(folder: Path, stdout: str) -> list[str]:
        text = (folder / "hpccoutf.txt").read_text()
        wanted = r"^(?:\|\|Ax-b.*|.*Errors(?:Fraction)?=.*|PTRANS_residual=.*|.*tests completed and .*|Success=.*)$"
        return re.findall(wanted, text, re.MULTILINE)

    return Program(["hpcc"], prepare, checks)


def scalapack(mpi: str) -> Program:
    """ScaLAPACK's test of LU: which cases pass. The condition estimate can hang by itself, so it is left out."""
    data = Path("/usr/share/scalapack/LU.dat")
    binary = SCALAPACK / f"{mpi}-tests" / "xdlu"
    needs(data, binary)

    def prepare(folder: Path) -> None:
        text = re.sub(r"(?m)^T(?=\s.*Cond)", "F", text_of(data))
        if mpi == "mpich":  # process grids that two ranks fill
            text = re.sub(r"(?m)^1 2 1 4(.*values of P)", r"1 2 1 1\1", text)
            text = re.sub(r"(?m)^1 2 4 1(.*values of Q)", r"1 1 2 1\1", text)
        (folder / "LU.dat").write_text(text)

    def cases(folder: Path, stdout: str) -> list[str]:
        rows = [line.split() for line in stdout.splitlines() if line.startswith("WALL")]
        return [" ".join([*row[1:8], row[-1]]) for row in rows]

    return Program([str(binary)], prepare, cases)


PROGRAMS_TRACED = {
    "lammps": ("openmpi", lammps),
    "hpcc": ("openmpi", hpcc),
    "scalapack-openmpi": ("openmpi", lambda: scalapack("openmpi")),
    "scalapack-mpich": ("mpich", lambda: scalapack("mpich")),
}


@pytest.mark.parametrize("name", PROGRAMS_TRACED)
def test_real_program(request, compiled, launch, analyze, tmp_path, name):
    leg_name, describe = PROGRAMS_TRACED[name]
    leg, program = request.getfixturevalue(leg_name), describe()
    counter = compiled(leg, "counter.c", "-shared", "-fPIC")
    plain, folder = tmp_path / "plain", tmp_path / "traced"
    for place in (plain, folder):
        place.mkdir()
        program.prepare(place)

    untraced = launch(leg, *program.command, preload=False, folder=plain, limit_s=120).check()
    # Counter first: it hands every call on to the tracer.
    env = {"LD_PRELOAD": f"{counter}:{LIBRARY}", "TRACELIB_CPUTIME": "off"}
    finished = launch(leg, *program.command, preload=False, env=env, folder=folder, limit_s=120).check()
    expected = program.result(plain, untraced.stdout)
    assert len(expected) > 3
    assert program.result(folder, finished.stdout) == expected

    receives = assert_counted(folder)
    assert_matched(folder / "run.h5", receives)
    analyze("check", folder / "run.h5").check()
    analyze("replay", folder / "run.h5", "--json").check()
    if name in ("lammps", "hpcc"):
        packed = pack_run(str(folder / "run.h5"), folder / "packed.h5")
        assert packed.size_bytes <= MOST_BYTES_PACKED * sum(f.counts().total() for f in rank_files(folder / "run.h5"))


def assert_counted(folder: Path) -> int:
    """The tracer's counts equal the other library's; returns the latter's number of receives."""
    receives = 0
    for rank, file in enumerate(rank_files(folder / "run.h5")):
        truth = read_truth(folder / f"truth-{rank}.jsonl")
        receives += truth.calls.pop("receives")
        counts = file.counts()
        assert {n: counts[n] for n in truth.calls} == dict(truth.calls), f"rank {rank}"
    return receives


def assert_matched(run: Path, receives: int) -> None:
    """As many matched messages as there were receives, none left over, none received before it was sent."""
    trace = open_run(str(run))
    bounds = trace.windows()
    found = 0
    for begin, end in itertools.pairwise(bounds):
        messages = trace.messages(int(begin), int(end))
        found += len(messages)
        assert (messages["logical_send"] <= messages["physical_send"]).all()
        assert (messages["logical_receive"] <= messages["physical_receive"]).all()
        assert (messages["logical_send"] <= messages["physical_receive"]).all()
    assert trace.unmatched() == []
    assert found == receives > 0
    assert trace.problems == []
    trace.close()
