"""A team shares the matching; each of its members then has the very trace that one process has."""

import multiprocessing
import pickle
from pathlib import Path

import pytest
from patience import patient
from synthetic import WORLD, call, request, write_run

from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace import Leftovers
from tracelib.schema import RequestKind


class FolderTeam(Team):
    """Processes that tell each other values through files."""

    def __init__(self, rank, size, folder, barrier):
        self.rank, self.size, self._folder, self._barrier, self._step = rank, size, folder, barrier, 0

    def barrier(self):
        self._barrier.wait(timeout=patient(60))

    def allgather(self, value):
        self._step += 1
        (self._folder / f"{self._step}-{self.rank}").write_bytes(pickle.dumps(value))
        self.barrier()
        return [pickle.loads((self._folder / f"{self._step}-{k}").read_bytes()) for k in range(self.size)]

    def bcast(self, value):
        return self.allgather(value)[0]


def contents(run, team):
    trace = open_run(str(run), team)
    found = trace.messages().tobytes(), trace.extra(Leftovers).unmatched(), trace.states().tobytes(), trace.problems
    trace.close()
    return found


def member(rank, size, folder, barrier, run):
    (folder / f"result-{rank}").write_bytes(pickle.dumps(contents(run, FolderTeam(rank, size, folder, barrier))))


def ring(ranks):
    """Each rank sends to the next and, of another tag, to itself; the last message of each is never received."""
    for rank in range(ranks):
        calls, requests = [], []
        for k in range(30):
            t = 100 * k + rank + 1
            calls.append(call("MPI_Irecv", t, t + 5, comm=WORLD, peer=(rank - 1) % ranks, tag=1))
            calls.append(call("MPI_Send", t + 10, t + 15, comm=WORLD, peer=(rank + 1) % ranks, tag=1, sent=k))
            calls.append(call("MPI_Wait", t + 20, t + 90))
            source = (rank - 1) % ranks
            requests.append(request(RequestKind.RECV_DONE, t, t + 90, peer=source, tag=1, bytes=k))
        calls.append(call("MPI_Send", 5000, 5010, comm=WORLD, peer=rank, tag=2, sent=7))
        yield {"calls": calls, "requests": requests}


@pytest.mark.parametrize("size", [2, 3, 7])
def test_each_member_has_what_one_process_has(tmp_path, size):
    run = write_run(tmp_path, list(ring(5)))
    alone = contents(run, Team())
    assert len(alone[1]) == 5
    folder = tmp_path / "team"
    folder.mkdir()
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(size)
    members = [context.Process(target=member, args=(k, size, folder, barrier, run)) for k in range(size)]
    for process in members:
        process.start()
    for process in members:
        process.join(timeout=patient(60))
    assert [process.exitcode for process in members] == [0] * size
    for k in range(size):
        assert pickle.loads((folder / f"result-{k}").read_bytes()) == alone
    assert sorted(p.name for p in Path(tmp_path).iterdir()) == ["run.h5", "run.ranks", "team"]
