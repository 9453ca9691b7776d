"""A rank killed at a random moment: every file opens in plain h5py, and no completed call is missing."""

import random
import signal
import struct
import subprocess
import time
import uuid
from pathlib import Path

import matrix
import pytest
from conftest import LIBRARY
from result import rank_files
from running import MARK, end_marked

from analyzer.sources.run import open_run

KILLS = 100


def progress(folder: Path, rank: int) -> tuple[int, int]:
    """pid and completed calls of a rank of kill.c; zeros before it has begun."""
    path = folder / f"progress-{rank}"
    data = path.read_bytes() if path.exists() else b""
    return struct.unpack("QQ", data) if len(data) == 16 else (0, 0)


def run_and_kill(leg, program, folder: Path, after_s: float, victim: int, buffer: str) -> None:
    """Start two ranks, wait until both work, then kill one `after_s` later; mpirun ends the other."""
    mark = uuid.uuid4().hex
    env = matrix.environment(leg) | {
        "LD_PRELOAD": str(LIBRARY),
        "TRACELIB_BUFFER": buffer,
        "TRACELIB_SPOOL": str(folder),
        "OMPI_MCA_btl_vader_backing_directory": str(folder),  # else each kill leaves segments in /dev/shm
        MARK: mark,
    }
    words = ["timeout", "-k", "1", "30", leg.mpirun, "-n", "2", str(program)]
    process = subprocess.Popen(
        words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 20
        while min(progress(folder, 0)[1], progress(folder, 1)[1]) < 2:
            assert time.monotonic() < deadline and process.poll() is None, "the program did not start"
            time.sleep(0.002)
        time.sleep(after_s)
        subprocess.run(["kill", f"-{signal.SIGKILL}", str(progress(folder, victim)[0])], check=True)
        process.wait(20)
    finally:
        end_marked(mark)
        process.wait(10)


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_no_completed_call_is_lost(request, compiled, tmp_path, mpi_name):
    """Between flushes and in the middle of them: the smallest buffer is flushed every few hundred calls."""
    leg = request.getfixturevalue(mpi_name)
    program = compiled(leg, "kill.c")
    random_ = random.Random(f"kills under {mpi_name}")
    from_spool = 0
    for number in range(KILLS // 2):
        folder = tmp_path / f"kill-{number}"
        folder.mkdir()
        victim, delay_s = random_.randrange(2), random_.uniform(0, 0.05)
        run_and_kill(leg, program, folder, delay_s, victim, random_.choice(["16K", "64K", "1M"]))
        files = rank_files(folder / "run.h5")  # plain h5py
        assert len(files) == 2
        trace = open_run(str(folder / "run.h5"))
        for rank, file in enumerate(files):
            recorded = sum(int(block["count"].sum()) for block in trace.calls(rank))
            completed = progress(folder, rank)[1]
            # The program counts a call after it has returned: at the moment of death one may be recorded already.
            assert completed <= recorded <= completed + 1, f"kill {number}, rank {rank}"
            from_spool += recorded - len(file.calls)
        assert any(p.rank == victim and "killed" in p.text for p in trace.problems)
        trace.close()
    assert from_spool > 0
