"""Delays that a program plants and measures itself are found by kind, rank and amount."""

import json

import pytest
from test_region_api import compile_flags

KINDS = {
    "late_sender": ("late_sender", 0, "MPI_Recv"),
    "late_sender_in_wait": ("late_sender", 0, "MPI_Wait"),
    "late_sender_in_probe": ("late_sender", 0, "MPI_Probe"),
    "wrong_order": ("wrong_order", 0, "MPI_Recv"),
    "late_receiver": ("late_receiver", 1, "MPI_Send"),
    "late_receiver_in_wait": ("late_receiver", 1, "MPI_Waitall"),
    "barrier": ("barrier", 1, "MPI_Barrier"),
    "n_to_n": ("n_to_n", 1, "MPI_Allreduce"),
    "early_reduce": ("early_reduce", -1, "MPI_Reduce"),
    "late_broadcast": ("late_broadcast", 1, "MPI_Bcast"),
    "early_scan": ("early_scan", 0, "MPI_Scan"),
    "fence": ("fence", 1, "MPI_Win_fence"),
    "n_to_n_in_wait": ("n_to_n", 1, "MPI_Wait"),
}
"""By function of the program: kind, rank that is late, call that waits."""


def noted(folder, ranks):
    """ns that each rank noted, by (what, function, rank)."""
    notes = {}
    for rank in range(ranks):
        for line in (folder / f"delayed-{rank}.jsonl").read_text().splitlines():
            what, function, ns = json.loads(line)
            notes[what, function, rank] = ns
    return notes


@pytest.mark.parametrize(("mpi_name", "ranks"), [("openmpi", 4), ("mpich", 2)])
def test_planted_delays(request, compiled, traced, analyze, mpi_name, ranks):
    """A wait lasts at least as long as the delay, which begins when all have had time to enter their calls, and at most
    as long as the call."""
    leg = request.getfixturevalue(mpi_name)
    run = traced(leg, compiled(leg, "delayed.c", *compile_flags()), ranks=ranks)
    notes = noted(run.folder, ranks)
    found = json.loads(analyze("waits", run.run, "--json", "--longest", "1000").check().stdout)
    elsewhere = sum(place["time_s"] for place in found["places"] if not place["region"]) * 1e9
    all_planted = all_costs = 0
    for function, (kind, late, call) in KINDS.items():
        late %= ranks
        planted = notes["late", function, late]
        waited = {rank: ns for (what, name, rank), ns in notes.items() if (what, name) == ("waited", function)}
        waits = [w for w in found["longest"] if w["region"] == f"{function} waits" and w["call"] == call]
        assert {w["rank"] for w in waits} == set(waited), function
        for wait in waits:
            assert (wait["kind"], wait["cause_rank"]) == (kind, late), function
            assert planted <= wait["time_s"] * 1e9 <= waited[wait["rank"]], function
        cost = cost_of(found, late, function, "direct_s")
        assert 0 < cost <= sum(waited.values()) + elsewhere, function
        all_planted, all_costs = all_planted + planted * len(waited), all_costs + cost
    # Where others use the CPUs, there are more delays than those that were planted.
    assert all_costs > all_planted / 2
    if ranks > 2:
        check_chain(found, notes, elsewhere)
    assert all(rank["waiting_s"] <= rank["mpi_s"] for rank in found["ranks"])
    total = sum(cause["direct_s"] + cause["indirect_s"] for cause in found["causes"])
    assert total == pytest.approx(found["waiting_s"])


def cost_of(found, rank, function, kind):
    """ns that the computation of a rank in a function costs others."""
    wanted = (rank, function, "computing")
    return sum(c[kind] for c in found["causes"] if (c["rank"], c["region"], c["what"]) == wanted) * 1e9


def check_chain(found, notes, elsewhere):
    """Rank 1 waits for rank 0, which is late, and rank 2 for rank 1: rank 0 answers for both."""
    planted = notes["late", "chain", 0]
    waits = {w["rank"]: w for w in found["longest"] if w["region"] == "chain waits"}
    assert {rank: w["cause_rank"] for rank, w in waits.items()} == {1: 0, 2: 1}
    for rank, kind in ((1, "direct_s"), (2, "indirect_s")):
        assert planted <= waits[rank]["time_s"] * 1e9 <= notes["waited", "chain", rank]
        assert 0 < cost_of(found, 0, "chain", kind) <= notes["waited", "chain", rank] + elsewhere
    assert 0 < waits[1]["caused_s"] <= waits[2]["time_s"]
