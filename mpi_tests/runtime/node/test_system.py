"""Samples of the system under MPI: one sampler a node, which no traced program notices and which outlives none."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import h5py
import matrix
import numpy as np
import pytest
import running
from conftest import LIBRARY, source_of
from patience import patient
from result import rank_files
from running import MARK, end_marked

pytestmark = pytest.mark.timed


@dataclass
class Run:
    """A traced run that goes on, or has ended."""

    folder: Path
    process: subprocess.Popen
    mark: str

    def samplers(self) -> dict[int, tuple[str, str, list[int]]]:
        """File, period and watched processes of each sampler of this run that is alive, by its pid."""
        name, found = f"{self.folder}/run.ranks/system-".encode(), {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            at = next((i for i, word in enumerate(words) if word.startswith(name)), None)
            if at is not None:
                path, period, *pids = (word.decode() for word in words[at:-1])
                found[int(process.name)] = (Path(path).name, period, [int(pid) for pid in pids])
        return found

    def files(self) -> list[Path]:
        return sorted((self.folder / "run.ranks").glob("system-*"))

    def wait_for_files(self, number: int) -> list[Path]:
        deadline = time.monotonic() + patient(20)
        while len(self.files()) < number:
            assert time.monotonic() < deadline, "no samples"
            time.sleep(0.02)
        return self.files()

    def end(self) -> list[str]:
        """Wait for mpirun, then 2 s for the samplers; the lines of output in their alphabetical order."""
        out, _ = self.process.communicate(timeout=patient(40))
        self.wait_for_samplers()
        return sorted(out.decode().splitlines())

    def wait_for_samplers(self) -> None:
        deadline = time.monotonic() + patient(2)
        while self.samplers() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not self.samplers()


@pytest.fixture
def started(tmp_path, spool):
    """started(leg, words, ...): mpirun in the background; whatever it leaves behind is ended after the test."""
    runs: list[Run] = []

    def start(leg, *words, ranks=2, preload=True, env=None, period="100ms") -> Run:
        mark = uuid.uuid4().hex
        environment = matrix.environment(leg) | {"TRACELIB_SPOOL": str(spool), MARK: mark}
        if preload:
            environment |= {"LD_PRELOAD": str(LIBRARY), "TRACELIB_SYSTEM": period, "TRACELIB_PYTHON": sys.executable}
        command = ["timeout", "-k", "1", str(patient(30)), leg.mpirun, "-n", str(ranks), *map(str, words)]
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment | (env or {}), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        runs.append(Run(tmp_path, process, mark))
        return runs[-1]

    yield start
    for run in runs:
        end_marked(run.mark)
        run.process.wait(patient(10))
        run.process.stdout.close()


@pytest.fixture(params=["openmpi", "mpich"])
def leg(request):
    return request.getfixturevalue(request.param)


Compiled = Callable[..., Path]


@pytest.mark.parametrize("adopt", [[], ["adopt"]])
def test_the_program_sees_no_child_signal_or_descriptor_of_ours(leg, compiled: Compiled, started, adopt):
    program = compiled(leg, "children.c", "-pthread")
    plain = started(leg, program, *adopt, "0.2", preload=False).end()
    run = started(leg, program, *adopt, "2")
    traced = [line for line in run.end() if not line.startswith("tracelib:")]
    assert traced == plain
    assert len(plain) == 2
    (path,) = run.files()
    with h5py.File(path) as file:
        assert file.attrs["state"] == 1
        assert len(file["samples"]) > 5


def test_what_the_sampler_is(leg, compiled: Compiled, started):
    run = started(leg, compiled(leg, "children.c", "-pthread"), "20")
    (path,) = run.wait_for_files(1)
    ((pid, arguments),) = run.samplers().items()
    ranks = [int(file.attributes["pid"]) for file in rank_files(run.folder / "run.h5")]
    assert arguments == (path.name, "100000000", ranks)
    process = Path(f"/proc/{pid}")
    stat = process.joinpath("stat").read_text().rpartition(")")[2].split()
    parent, session, nice = int(stat[1]), int(stat[3]), int(stat[16])
    assert parent not in ranks
    assert (session, nice) == (pid, 19)
    assert os.sched_getaffinity(pid) == set(range(os.cpu_count())) & os.sched_getaffinity(1)
    environment = process.joinpath("environ").read_bytes().split(b"\0")
    assert not [name for name in environment if name.startswith((b"LD_PRELOAD", b"PMI", b"OMPI_"))]
    assert str(process.joinpath("cwd").readlink()) == "/"
    opened = Counter(str(link.readlink()) for link in process.joinpath("fd").iterdir())
    own = {"/dev/null": 3, str(path): 1, "anon_inode:[pidfd]": len(ranks)}
    assert {name: n for name, n in opened.items() if not name.startswith("pipe:")} == own
    assert [n for name, n in opened.items() if name.startswith("pipe:")] == [2]  # both ends: its own for signals


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_it_ends_with_killed_ranks(request, compiled: Compiled, started, debian):
    leg = request.getfixturevalue(debian)
    run = started(leg, compiled(leg, "children.c", "-pthread"), "20", period="1s")
    (path,) = run.wait_for_files(1)
    for file in rank_files(run.folder / "run.h5"):
        with suppress(ProcessLookupError):  # the launcher may end the others when one is gone
            os.kill(int(file.attributes["pid"]), signal.SIGKILL)
    run.wait_for_samplers()
    with h5py.File(path) as file:
        assert file.attrs["state"] == 1
        assert len(file["samples"]) >= 2


def test_one_sampler_a_node(leg, compiled: Compiled, started, root_only):
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    run = started(leg, source_of("hosts"), "2", compiled(leg, "children.c", "-pthread"), "20", ranks=leg.ranks)
    paths = run.wait_for_files(2)
    assert [path.name for path in paths] == ["system-node0.h5", "system-node1.h5"]
    pids = [int(file.attributes["pid"]) for file in rank_files(run.folder / "run.h5")]
    watched = {name: pids for name, _, pids in run.samplers().values()}
    assert watched == {"system-node0.h5": pids[0::2], "system-node1.h5": pids[1::2]}


def test_what_the_files_say_is_in_the_paraver_trace(leg, compiled: Compiled, started, analyze, root_only):
    """On two nodes: of each sample in the run an event, on the first rank of the node, with the very same value."""
    run = started(leg, source_of("hosts"), "2", compiled(leg, "children.c", "-pthread"), "2", ranks=2)
    assert run.end()
    analyze("prv", run.folder / "run.h5").check()
    events: dict[tuple[int, int], list[int]] = {}
    lines = (run.folder / "run.prv").read_text().splitlines()
    for _, _, _, task, _, _, *pairs in (line.split(":") for line in lines if line.startswith("2:")):
        for number, value in zip(pairs[::2], pairs[1::2], strict=True):
            events.setdefault((int(task), int(number)), []).append(int(value))
    for task, path in enumerate(run.files(), start=1):
        with h5py.File(path) as file:
            rows = file["samples"][:]
        memory = events[task, 49001020]
        assert len(rows) - 4 <= len(memory) <= len(rows)  # the last ones are taken while MPI and the tracer end
        assert memory == rows["memory_used"][: len(memory)].tolist()
        assert events[task, 49001030] == np.diff(rows["network_sent"])[: len(memory) - 1].clip(0).tolist()
        assert events[task, 49001001] == np.rint(100 * rows["load_1"])[: len(memory)].tolist()
    look = json.loads(analyze("look", "--no-files", "--json", run.folder / "run.h5").check().stdout)
    assert [node["node"] for node in look["system"]] == ["node0", "node1"] == look["nodes"]
    assert look["problems"] == []


def test_the_launcher_asks_for_it(openmpi, compiled: Compiled, spool, tmp_path):
    words = ["run", "-q", "--system", "200ms", "--", openmpi.mpirun, "-n", "2", compiled(openmpi, "children.c"), "2"]
    environment = matrix.environment(openmpi) | {"PYTHONPATH": str(matrix.ROOT), "TRACELIB_SPOOL": str(spool)}
    running.run([sys.executable, "-m", "tracelib.cli", *words], tmp_path, environment).check()
    with h5py.File(tmp_path / "run.ranks" / f"system-{socket.gethostname()}.h5") as file:
        assert file.attrs["period_ns"] == 200_000_000
        assert len(file["samples"]) > 2


@pytest.mark.parametrize("period", ["often", "1m", "0.001", "9ms", "1e1"])
def test_nonsense_is_one_line(openmpi, compiled: Compiled, started, period):
    run = started(openmpi, compiled(openmpi, "steady.c"), "10", period=period)
    said = [line for line in run.end() if line.startswith("tracelib: ")]
    assert len(said) == 2  # with the closing line
    assert any(f"TRACELIB_SYSTEM={period} is not a period" in line for line in said)
    assert run.process.returncode == 0
    assert run.files() == []


@pytest.mark.parametrize("period", ["", "0"])
def test_off(openmpi, compiled: Compiled, started, period):
    run = started(openmpi, compiled(openmpi, "steady.c"), "10", period=period)
    assert len([line for line in run.end() if line.startswith("tracelib: ")]) == 1
    assert run.files() == []


@pytest.mark.parametrize(
    ("python", "why"),
    [("/nowhere/python3", "No such file"), ("nowhere-python", "no python3"), ("false", "not started")],
)
def test_no_python_that_can_sample(openmpi, compiled: Compiled, started, python, why):
    run = started(openmpi, compiled(openmpi, "steady.c"), "10", env={"TRACELIB_PYTHON": python})
    said = [line for line in run.end() if "not sampled" in line]
    assert len(said) == 1
    assert why in said[0]
    assert "TRACELIB_PYTHON" in said[0]
    assert run.process.returncode == 0


@pytest.mark.parametrize("place", ["lib/python3.77/site-packages", "lib64/python3.77/site-packages", "sources"])
def test_which_python_samples(openmpi, compiled: Compiled, started, tmp_path, place):
    """That of the package; where the package belongs to none, python3 on PATH. The program's own home is not its."""
    package = tmp_path / "prefix" / place / "tracelib"
    shutil.copytree(LIBRARY.parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    folders = {"python3.77": tmp_path / "prefix" / "bin", "python3": tmp_path / "path"}
    for name, folder in folders.items():
        folder.mkdir()
        script = f'#!/bin/sh\necho {name} >> {tmp_path}/used\nexec {sys.executable} -E "$@"\n'
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    env = {"TRACELIB_PYTHON": "", "LD_PRELOAD": str(package / "libtrace.so"), "PYTHONHOME": "/nowhere"}
    env["PATH"] = f"{folders['python3']}:{os.environ['PATH']}"
    run = started(openmpi, compiled(openmpi, "children.c", "-pthread"), "1.5", env=env)
    assert not [line for line in run.end() if "not sampled" in line]
    assert (tmp_path / "used").read_text().split() == ["python3" if place == "sources" else "python3.77"]
    assert len(run.files()) == 1
