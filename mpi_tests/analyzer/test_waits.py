"""Delays that a program plants and measures itself are found by kind, rank and amount."""

import json
from dataclasses import dataclass

import pytest
from patience import crowd
from region_notes import compile_flags

pytestmark = pytest.mark.timed

LEGS = [("openmpi", 4), ("mpich", 2)]

KINDS = {
    "late_sender": ("late_sender", 0, "MPI_Recv"),
    "late_sender_in_wait": ("late_sender", 0, "MPI_Wait"),
    "late_sender_in_probe": ("late_sender", 0, "MPI_Probe"),
    "wrong_order": ("wrong_order", 0, "MPI_Recv"),
    "late_receiver": ("late_receiver", 1, "MPI_Send"),
    "late_receiver_in_wait": ("late_receiver", 1, "MPI_Waitall"),
    "synchronous": ("late_receiver", 1, "MPI_Ssend"),
    "barrier": ("barrier", 1, "MPI_Barrier"),
    "n_to_n": ("n_to_n", 1, "MPI_Allreduce"),
    "early_reduce": ("early_reduce", -1, "MPI_Reduce"),
    "late_broadcast": ("late_broadcast", 1, "MPI_Bcast"),
    "early_scan": ("early_scan", 0, "MPI_Scan"),
    "fence": ("fence", 1, "MPI_Win_fence"),
    "n_to_n_in_wait": ("n_to_n", 1, "MPI_Wait"),
    "alltoallv": ("n_to_n", 1, "MPI_Alltoallv"),
    "alltoallw": ("n_to_n", 1, "MPI_Alltoallw"),
    "allgatherv": ("n_to_n", 1, "MPI_Allgatherv"),
    "reduce_scatter": ("n_to_n", 1, "MPI_Reduce_scatter"),
    "neighbours": ("n_to_n", 1, "MPI_Neighbor_alltoall"),
    "other_group": ("n_to_n", 1, "MPI_Allreduce"),
    "persistent_n_to_n": ("n_to_n", 1, "MPI_Wait"),
    "late_post": ("late_post", 1, ""),
    "early_wait": ("early_wait", 0, "MPI_Win_wait"),
    "lock_contention": ("lock_contention", 0, ""),
}
"""By function of the program: kind, rank that is late, call that waits; "": which one depends on the MPI."""

POLLED = {
    "late_sender_in_test": ("late_sender", 0),
    "late_sender_in_testsome": ("late_sender", 0),
    "late_sender_in_iprobe": ("late_sender", 0),
    "late_receiver_in_test": ("late_receiver", 1),
    "barrier_in_test": ("barrier", 1),
}
"""Wait states of the functions in which ranks poll."""

MPI_4 = ("persistent_n_to_n",)
"""Functions that an MPI of version 3 does not have."""


@dataclass
class Run:
    """Times that the program noted (ns by kind, function, rank), and the wait states that were found."""

    ranks: int
    notes: dict
    found: dict

    def waited(self, function):
        """ns of the calls that waited, by rank."""
        return {rank: ns for (what, name, rank), ns in self.notes.items() if (what, name) == ("waited", function)}

    def places(self, function):
        """The rows of `places` of what waited there."""
        return [p for p in self.found["places"] if p["region"] == f"{function} waits"]

    def longest(self, function):
        """The single waits there."""
        return [w for w in self.found["longest"] if w["region"] == f"{function} waits"]

    def cost_of(self, rank, function, kind):
        """ns that the computation of a rank in a function costs others."""
        wanted = (rank, function, "computing")
        return sum(c[kind] for c in self.found["causes"] if (c["rank"], c["region"], c["what"]) == wanted) * 1e9

    @property
    def elsewhere(self):
        """ns of waiting outside of all functions."""
        return sum(place["time_s"] for place in self.found["places"] if not place["region"]) * 1e9


RUNS = {}


@pytest.fixture(params=LEGS, ids=lambda leg: leg[0])
def run(request, compiled, traced, analyze):
    """The program traced once under each MPI, and again for a test that failed."""
    name, ranks = request.param
    if name not in RUNS or request.node.execution_count > 1:
        leg = request.getfixturevalue(name)
        made = traced(leg, compiled(leg, "delayed.c", *compile_flags()), ranks=ranks)
        notes = {}
        for rank in range(ranks):
            for line in (made.folder / f"delayed-{rank}.jsonl").read_text().splitlines():
                what, function, ns = json.loads(line)
                notes[what, function, rank] = ns
        found = json.loads(analyze("waits", made.run, "--json", "--top", "100000").check().stdout)
        RUNS[name] = Run(ranks, notes, found)
    return RUNS[name]


@pytest.mark.parametrize("function", KINDS)
def test_planted_delay(run, function):
    """A wait lasts at least as long as the delay, which begins when all have had time to enter their calls, and at most
    as long as the call."""
    kind, late, call = KINDS[function]
    late %= run.ranks
    waited, waits = run.waited(function), run.longest(function)
    if function in MPI_4 and run.ranks > 2:
        assert not waited, "Open MPI has it now: compare"
        return
    planted = run.notes["late", function, late]
    assert {w["rank"] for w in waits} == set(waited)
    assert {(w["kind"], w["cause_rank"]) for w in waits} == {(kind, late)}
    for rank in waited:
        (wait,) = [w for w in waits if w["rank"] == rank]
        assert planted <= wait["time_s"] * 1e9 <= waited[rank]
        assert wait["call"] == call if call else wait["call"].startswith("MPI_Win_")
    assert 0 < run.cost_of(late, function, "direct_s") <= sum(waited.values()) + run.elsewhere


@pytest.mark.parametrize("function", POLLED)
def test_planted_delay_in_polls(run, function):
    """Ranks that do nothing but poll are in MPI a good part of the time; the rest is between their calls."""
    kind, late = POLLED[function]
    waited, places = run.waited(function), run.places(function)
    assert {(w["kind"], w["cause_rank"]) for w in run.longest(function)} == {(kind, late)}
    assert {w["rank"] for w in run.longest(function)} == set(waited)
    planted, times = run.notes["late", function, late] * len(waited), [p["time_s"] * 1e9 for p in places]
    assert planted / 4 <= sum(times) <= sum(waited.values())
    assert sum(times) + sum(p["overlap_s"] for p in places) * 1e9 <= sum(waited.values())
    assert sum(p["count"] for p in places) == len(waited)


def test_computing_between_polls_is_overlap(run):
    """Rank 1 computes 2 ms between two polls."""
    (place,) = run.places("overlapped")
    planted, waited = run.notes["late", "overlapped", 0] / 1e9, run.waited("overlapped")[1] / 1e9
    assert (place["kind"], place["count"]) == ("late_sender", 1)
    assert planted * 0.8 / crowd() <= place["overlap_s"] <= waited
    assert 0 < place["time_s"] <= waited - place["overlap_s"]


def test_a_buffered_message_delays_no_sender(run):
    assert run.waited("eager")[0] < run.notes["late", "eager", 1]
    assert run.longest("eager") == []


def test_delays_cost_what_is_waited(run):
    total = sum(cause["direct_s"] + cause["indirect_s"] for cause in run.found["causes"])
    assert total == pytest.approx(run.found["waiting_s"])
    assert all(rank["waiting_s"] <= rank["mpi_s"] for rank in run.found["ranks"])
    # Where others use the CPUs, there are more delays than those that were planted.
    functions = [f for f in KINDS if run.waited(f)]
    planted = sum(run.notes["late", f, KINDS[f][1] % run.ranks] * len(run.waited(f)) for f in functions)
    assert sum(run.cost_of(KINDS[f][1] % run.ranks, f, "direct_s") for f in functions) > planted / 2


def test_chain(run):
    """Rank 1 waits for rank 0, which is late, and rank 2 for rank 1: rank 0 answers for both."""
    if run.ranks < 3:
        assert not run.waited("chain")
        return
    planted = run.notes["late", "chain", 0]
    waits = {w["rank"]: w for w in run.longest("chain")}
    assert {rank: w["cause_rank"] for rank, w in waits.items()} == {1: 0, 2: 1}
    for rank, kind in ((1, "direct_s"), (2, "indirect_s")):
        assert planted <= waits[rank]["time_s"] * 1e9 <= run.notes["waited", "chain", rank]
        assert 0 < run.cost_of(0, "chain", kind) <= run.notes["waited", "chain", rank] + run.elsewhere
    assert 0 < waits[1]["caused_s"] <= waits[2]["time_s"]
