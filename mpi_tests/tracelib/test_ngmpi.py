"""The network measurement under each MPI: what it sends, finds and writes. Nothing here depends on a quiet machine."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import h5py
import numpy as np
import pytest
from matrix import ROOT, Leg
from patience import crowd, patient
from result import rank_files
from running import Finished

from analyzer.network_measurement.estimate import estimate
from tracelib.ngmpi.stopping_rules import spread
from tracelib.schema import net
from tracelib.schema.prtt import size_times

pytestmark = pytest.mark.long

SITE = next(Path(p) for p in sys.path if p.endswith("site-packages"))
BOTH = pytest.mark.parametrize("leg", ["apt-openmpi", "apt-mpich"])
CONFIG = """\
CLL_NGMPI_N_PARAMETER 32
CLL_NGMPI_TIMES 2
CLL_NGMPI_SIZE_MAX 5000
CLL_NGMPI_NUM_STEPS 2
CLL_NGMPI_STEP 500 1000
CLL_NGMPI_STEP 2000 5000
CLL_NGMPI_NUM_PROC 2
CLL_NGMPI_MODE 0
"""
CONFIG_SIZES = [1, 501, 1001, 3001]


@pytest.fixture
def ngmpi(launch, tmp_path) -> Callable[..., Finished]:
    """ngmpi(leg, *options, ranks=2, env=): the command, which leaves net.h5 in the test's folder."""

    def start(leg: Leg, *options: str, ranks: int = 2, env: dict[str, str] | None = None, **more) -> Finished:
        settings = {"PYTHONPATH": f"{ROOT}{os.pathsep}{SITE}"} | (env or {})
        words = ("-m", "tracelib.ngmpi", "-o", "net.h5", *options)
        return launch(leg, leg.python, *words, ranks=ranks, env=settings, preload=False, **more)

    return start


def rows(folder: Path, table: str = "rows") -> np.ndarray:
    """All rows of a table of net.h5."""
    with h5py.File(folder / "net.h5") as file:
        return file[table][:]


def test_each_mpi(mpi, ngmpi, tmp_path):
    """All four times of each size, and what there is to know about them."""
    ngmpi(mpi, "--step", "3000:10K", "--rows", "3", "--receiver", "-q").check()
    found = rows(tmp_path)
    assert found.dtype.names == net.ROW.names
    assert sorted(set(found["size"])) == [1, 3001, 6001, 9001]
    counted = found[found["flags"] & net.RowFlag.WARM_UP == 0]
    assert [(counted["size"] == size).sum() for size in (1, 3001, 6001, 9001)] == [3] * 4
    exact = found[found["flags"] & net.RowFlag.CAPPED == 0]
    assert len(exact)
    assert (exact["delay_s"] == 2 * exact["one_s"]).all()
    assert (found["waited_s"] >= found["delay_s"] * (1 - 1e-12)).all()
    assert (found["delayed_s"] >= (found["train"] - 1) * found["waited_s"]).all()
    for column in ("one_s", "train_s", "zero_s"):
        assert (found[column] > 1e-8).all()
        assert (found[column] < 10).all()
    assert (np.diff(found["start_s"]) > 0).all()
    received = rows(tmp_path, "receiver")
    assert (received["delayed_s"] >= (received["train"] - 1) * received["waited_s"]).all()
    with h5py.File(tmp_path / "net.h5") as file:
        assert (file.attrs["format"], file.attrs["version"]) == (net.FORMAT, net.VERSION)
        assert ("MPICH" if "mpich" in mpi.name else "Open MPI") in file.attrs["mpi"]
        settings = json.loads(file.attrs["settings"])
        assert (settings["repetitions"], settings["thread_level"]) == (3, "single")
        assert json.loads(file.attrs["clock"])["ticks_per_s"] > 1e6
        (host,) = file["hosts"][:]
        assert host["name"].decode() == os.uname().nodename
        (pair,) = file["pairs"][:]
        assert (pair["first"], pair["second"], pair["where"].decode()) == (0, 1, "intra")


@BOTH
def test_messages_of_a_row(legs, leg, ngmpi, tmp_path):
    """The tracer, which MPI does not know of, sees 70 messages for each row of n = 32, and their sizes."""
    (tmp_path / "options").write_text(CONFIG)
    ngmpi(legs[leg], "-c", "options", env={"LD_PRELOAD": str(ROOT / "tracelib" / "libtrace.so")}).check()
    found = rows(tmp_path)
    assert set(found["train"]) == {32}
    assert sorted(set(found["size"])) == CONFIG_SIZES
    sends, sizes = 0, []
    for rank in rank_files(tmp_path / "run.h5"):
        calls = rank.calls[[name in ("MPI_Send", "MPI_Send_c") for name in rank.names]]
        sends += len(calls)
        sizes += calls["sent"].tolist()
    assert sends == 70 * len(found)
    for size in CONFIG_SIZES[1:]:
        assert sizes.count(size) == 68 * (found["size"] == size).sum()
    assert sizes.count(1) == 2 * len(found) + 68 * (found["size"] == 1).sum()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--mode", "sampling"], set(combinations(range(4), 2))),
        (["--ranks", "1,2,3"], {(1, 2), (1, 3), (2, 3)}),
        (["--mode", "pairs"], {(0, 1), (2, 3)}),
        (["--mode", "full"], set(combinations(range(4), 2))),
    ],
)
def test_modes(openmpi, ngmpi, tmp_path, options, expected):
    """Four ranks: those that the tracer saw sending to each other are the pairs asked for, and the rows are theirs."""
    preload = {"LD_PRELOAD": str(ROOT / "tracelib" / "libtrace.so")}
    plan = ["--step", "1:24", "--loop", "1", "--skip", "0", "--train", "4", "-q"]
    ngmpi(openmpi, *plan, *options, ranks=4, env=preload).check()
    pairs, found = rows(tmp_path, "pairs"), rows(tmp_path)
    asked = [(int(pair["first"]), int(pair["second"])) for pair in pairs]
    assert set(asked) == expected
    measured = Counter(asked[pair] for pair in found["pair"])
    drawn = "full" not in options and "pairs" not in options
    assert measured.keys() <= expected if drawn else measured == dict.fromkeys(expected, 24)
    assert sum(measured.values()) == (24 if drawn else 24 * len(expected))
    messages: Counter[tuple[int, ...]] = Counter()
    for rank in rank_files(tmp_path / "run.h5"):
        for (members, *_), count in rank.sent().items():
            messages[tuple(map(int, members.split()))] += count
    assert messages == {pair: 14 * count for pair, count in measured.items()}
    assert len(set(pairs["group"])) == (len(pairs) if "full" in options else 1)
    if "pairs" in options:
        sent = [rank.calls["enter"][rank.calls["sent"] > 0] for rank in rank_files(tmp_path / "run.h5")]
        assert max(int(ticks.min()) for ticks in sent) < min(int(ticks.max()) for ticks in sent)  # at the same time


TIMES = (6, 12, 24, 48)
"""Seconds where there is a CPU for each process, and more where there is not: the limit shows late there."""
LIMITS = {
    "openmpi-shared": ("apt-openmpi", {"OMPI_MCA_btl": "vader,self"}, "OMPI_MCA_btl_vader_eager_limit", 56),
    "openmpi-tcp": ("apt-openmpi", {"OMPI_MCA_btl": "tcp,self"}, "OMPI_MCA_btl_tcp_eager_limit", 56),
    "mpich-shared": ("apt-mpich", {}, "UCX_RNDV_THRESH", 0),
    "mpich-tcp": ("apt-mpich", {"UCX_TLS": "tcp,self", "MPIR_CVAR_NOLOCAL": "1"}, "UCX_RNDV_THRESH", 0),
}
TOLD = [*((name, 2000) for name in LIMITS), ("openmpi-shared", 10000), ("mpich-shared", 10000)]
"""Each network, and two with another limit."""


@pytest.mark.parametrize(("network", "limit"), TOLD)
def test_the_limit_between_protocols_is_located(legs, ngmpi, tmp_path, network, limit):
    """Sizes gather about the size at which MPI changes its protocol, wherever it was told to, and it is among the
    changes that `analyze` finds, within one step of the sizes.

    Open MPI counts its header in.
    """
    leg, settings, variable, header = LIMITS[network]
    plan = ["-m", "256", "-n", "16K", "--train", "8", "--precision", "0.2", "-q", "-f"]
    for seconds in TIMES:
        time = f"{seconds * crowd():.0f}s"
        ngmpi(legs[leg], *plan, "-t", time, limit_s=60 + 2 * seconds, env=settings | {variable: str(limit)}).check()
        step, near, changes = about(limit - header, rows(tmp_path))
        if step <= limit / 8 and near:
            break
    assert step <= limit / 8
    assert near, changes


def about(limit: int, measured: np.ndarray) -> tuple[float, bool, list[int]]:
    """The step of the sizes at the limit (infinite: none above it is known yet), whether one of the changes found is
    next to it, and all of these."""
    found = estimate(measured)
    sizes = found.curves.size
    after = int(np.searchsorted(sizes, limit, side="right"))
    step = float(sizes[after] - sizes[after - 1]) if 0 < after < len(sizes) else np.inf
    near = any(abs(begin - after) <= 1 for begin in found.begins[1:])
    return step, near, [int(sizes[begin - 1]) for begin in found.begins[1:]]


def test_beside_busy_processes_the_time_is_kept_and_the_last_line_says_what_it_gave(openmpi, ngmpi, tmp_path):
    """Two for each core."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        done = ngmpi(openmpi, "-n", "1K", "-t", "2s", "--precision", "0.0001").check()
    finally:
        for process in busy:
            process.kill()
            process.wait()
    found = rows(tmp_path)
    assert found["start_s"].max() < patient(7)
    known = re.search(r"net.h5, half of the sizes are known within ([0-9.]+|inf)%; next: analyze net.h5", done.stderr)
    assert known, done.stderr
    if known[1] != "inf":
        assert float(known[1]) == pytest.approx(100 * np.median(spread(size_times(found))), abs=0.06)


INTERRUPTED = """
import os, signal, sys, threading
from mpi4py import MPI
from tracelib.ngmpi.cli import main

if MPI.COMM_WORLD.rank == 0:
    threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
sys.argv[1:] = "-o net.h5 -n 4K -t 50s --precision 0.0001".split()
main()
"""


@BOTH
def test_an_interrupt_leaves_a_whole_file(legs, leg, launch, tmp_path):
    """The ranks end in order, what was measured until then is there, and the exit code says that it is not all."""
    paths = {"PYTHONPATH": f"{ROOT}{os.pathsep}{SITE}"}
    after_s = str(patient(1.5))
    done = launch(legs[leg], legs[leg].python, "-c", INTERRUPTED, after_s, ranks=2, env=paths, preload=False)
    assert done.returncode == 130
    found = rows(tmp_path)
    assert f"tracelib: stopped: 1 pair, {len(found)} rows" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(found)
    assert not list(tmp_path.glob(".net.h5*"))


@pytest.mark.timed  # a launcher that is in a hurry to end may lose the line
@BOTH
def test_an_interrupt_before_anything_was_measured_is_one_line(legs, leg, launch, tmp_path):
    paths = {"PYTHONPATH": f"{ROOT}{os.pathsep}{SITE}"}
    done = launch(legs[leg], legs[leg].python, "-c", INTERRUPTED, "0.2", ranks=2, env=paths, preload=False)
    assert done.returncode == 130
    assert len([line for line in done.stderr.splitlines() if line.startswith("tracelib: ")]) == 1
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob(".net.h5*"))


@BOTH
@pytest.mark.parametrize(("options", "buffers"), [([], 2), (["--one-buffer"], 1), (["--receiver"], 2)])
def test_messages_come_into_another_buffer_than_they_go_out_of(legs, leg, ngmpi, compiled, tmp_path, options, buffers):
    """As in the benchmarks of OSU and Intel: what was just received is in the cache, and would be sent sooner."""
    library = compiled(legs[leg], "counts_buffers.c", "-shared", "-fPIC")
    done = ngmpi(legs[leg], "-l", "2", "--step", "4999:5000", "-n", "5000", *options, env={"LD_PRELOAD": str(library)})
    assert done.check().stdout.splitlines() == [f"buffers: {buffers}"] * 2
    with h5py.File(tmp_path / "net.h5") as file:
        assert json.loads(file.attrs["settings"])["one_buffer"] == (buffers == 1)


@BOTH
@pytest.mark.parametrize(
    ("options", "ranks", "said"),
    [
        ([], 1, "one rank alone"),
        (["-c", "none"], 2, "none cannot be read"),
        (["-n", "many"], 2, "'many' is not a size"),
        (["-m", "2K", "-n", "1K"], 2, "the smallest size, 2048, is above the largest, 1024"),
        (["--ranks", "0,7"], 2, "the subgroup has rank 7, but ranks are 0 to 1"),
        (["--mode", "none"], 2, "'none' is not one of"),
    ],
)
def test_a_mistake_is_one_line(legs, leg, ngmpi, tmp_path, options, ranks, said):
    done = ngmpi(legs[leg], *options, ranks=ranks, limit_s=30)
    assert not done.timed_out
    assert done.returncode not in (0, 124, 137)
    ours = [line for line in done.stderr.splitlines() if line.startswith("tracelib:")]
    assert len(ours) == 1
    assert said in ours[0]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "net.h5").exists()
