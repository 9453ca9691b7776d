"""Commands that show or choose places give the same bytes under mpirun as alone."""

import pytest
from placed_runs import placed
from synthetic import WORLD, call, write_run
from test_every_command import written

LINES = {
    "info": ("--json",),
    "info of some": ("--json", "--place", "ring"),
    "check": ("--json",),
    "check of some": ("--place", "work"),
    "waits": ("--json",),
    "waits of some": ("--place", "ring"),
    "critical-path": ("--json",),
    "critical-path of some": ("--place", "ring"),
    "what-if": ("--json", "--machine", "ideal"),
    "what-if of some": ("--place", "work", "--machine", "ideal"),
    "loggp of some": ("--json", "--place", "ring"),
    "limits": ("--quick", "--json", "--machine", "ideal"),
    "replay": ("--by", "place", "--json"),
    "profile": ("--by", "place", "-o", "."),
    "prv": ("--callers", "3", "-o", "."),
}
RANKS, ROUNDS = 5, 40


def ring(rank):
    """Messages around a ring, rank 2 late, and a send that nobody receives."""
    late, rows, chains = 700 * (rank == 2), [], []
    pair = {"comm": WORLD, "tag": 3}
    for k in range(ROUNDS):
        begin = 10_000 * k
        names = ("MPI_Send", 100 + late, 20, "work", 3), ("MPI_Recv", 200 + late, 900, "ring", 7), (
            "MPI_Allreduce", 2000, 100 + late, "ring", 9)  # fmt: skip
        for name, at, takes, function, line in names:
            more = {"MPI_Send": {"peer": (rank + 1) % RANKS, "sent": 64, **pair},
                    "MPI_Recv": {"peer": (rank - 1) % RANKS, "received": 64, **pair},
                    "MPI_Allreduce": {"comm": WORLD}}[name]  # fmt: skip
            rows.append(call(name, begin + at, begin + at + takes, **more))
            chains.append((("main", 40 + rank % 2), (function, line)))
    rows.append(
        call("MPI_Send", 10_000 * ROUNDS, 10_000 * ROUNDS + 5, comm=WORLD, peer=(rank + 2) % RANKS, tag=9, sent=8)
    )
    return placed({"calls": rows}, [*chains, (("main", 50),)])


@pytest.mark.parametrize("leg", ["openmpi"])
def test_two_processes_give_the_bytes_of_one(leg, request, tmp_path):
    mpi = request.getfixturevalue(leg)
    (tmp_path / "run").mkdir()
    traced = str(write_run(tmp_path / "run", [ring(rank) for rank in range(RANKS)]))
    lines = {name: [name.split()[0], traced, *options] for name, options in LINES.items()}
    alone, two = (written(lines, tmp_path / name, ranks, mpi) for name, ranks in (("one", 1), ("two", 2)))
    for name in lines:
        for found in (alone, two):
            found[name].pop("err.0")
        assert two[name].pop("code.1") == alone[name]["code.0"], name
        assert not two[name].pop("out.1"), name
        two[name].pop("err.1")
        assert two[name] == alone[name], name
        assert alone[name]["out.0"] or len(alone[name]) > 2, name
