"""Tracing that is bounded in time, by the program or by size: what is recorded is exact, what is not is counted."""

import re
import signal
import subprocess
import time
import uuid
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

import h5py
import matrix
import numpy as np
import pytest
from conftest import LIBRARY, source_of
from matrix import ROOT
from patience import patient
from running import MARK, end_marked

from analyzer.metrics.unrecorded import unrecorded
from analyzer.metrics.useful import useful
from analyzer.pairing.collective_calls import collectives
from analyzer.pairing.nonblocking_collectives import nonblocking_collectives
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace import Leftovers, Losses
from tracelib import schema
from tracelib.schema import RequestKind

LIMIT = 1 << 20
FLAGS = ("-I", str(ROOT / "tracelib" / "include"), "-pthread")


def opened(run):
    """The trace in run.h5, closed at the end of the test."""
    trace = open_run(str(run))
    yield trace
    trace.close()


def assert_sizes_agree(trace) -> np.ndarray:
    """The messages. Each has as many bytes where it is received as where it was sent: none was taken for another."""
    messages = trace.messages()
    for rank in range(trace.size):
        rows = np.concatenate(list(trace.requests(rank)))
        done = rows[np.isin(rows["what"], (RequestKind.RECV_DONE, RequestKind.RECEIVED))]
        bytes_of = {(int(r["posted"]), int(r["completed"])): int(r["bytes"]) for r in done}
        mine = messages[messages["destination"] == rank]
        found = [bytes_of[int(m["logical_receive"]), int(m["physical_receive"])] for m in mine]
        assert found == mine["size"].tolist()
    return messages


@pytest.mark.parametrize("how", ["pcontrol", "pause"])
@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_what_is_made_while_tracing_is_off_is_not_recorded_and_the_rest_is_exact(
    request, compiled, traced, analyze, mpi_name, how
):
    leg = request.getfixturevalue(mpi_name)
    run = traced(leg, compiled(leg, "channels.c", *FLAGS), "400", how, ranks=2)
    truths = run.truths()
    both, one = (sum(truth.calls.pop(name) for truth in truths) for name in ("both", "one"))
    for truth, file in zip(truths, run.ranks, strict=True):
        assert file.counts() == truth.calls
    for trace in opened(run.run):
        assert len(assert_sizes_agree(trace)) == both > 1000
        assert not trace.extra(Leftovers).unmatched()
        assert trace.extra(Leftovers).not_recorded() == one > 100
        times = 10 if how == "pause" else 20  # after MPI_Pcontrol what was counted is written: no time of the program
        assert all(10 <= len(trace.extra(Losses).unrecorded(rank)) <= times for rank in range(2))
    analyze("check", run.run).check()


def assert_sizes_of_members(trace, rows, group, sizes):
    """The collectives (MEMBER_CALL and the number of each) have these bytes on all members."""
    found = defaultdict(set)
    for rank in range(trace.size):
        calls = np.concatenate(list(trace.calls(rank)))
        mine = rows["rank"] == rank
        at = np.searchsorted(calls["enter"], rows["enter"][mine])
        assert (calls["enter"][at] == rows["enter"][mine]).all()
        for number, size in zip(group[mine].tolist(), calls["sent"][at].tolist(), strict=True):
            found[number].add(size)
    assert [found[number] for number in sorted(found)] == [{size} for size in sizes]


@pytest.mark.parametrize("source", ["paused.f90", "paused.py"])
@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_a_program_in_another_language_pauses(request, traced, compiled, tmp_path, mpi_name, source):
    """Ring of messages of i bytes: those made on both sides while tracing was on are there, and no others. The same of
    collectives, of which all calls that belong together have i bytes."""
    leg = request.getfixturevalue(mpi_name)
    if source.endswith(".f90"):
        command = [compiled(leg, source, *FLAGS, "-J", str(tmp_path))]
    else:
        command = [leg.python, str(source_of(source))]
    run = traced(leg, *command, ranks=2)
    made = [set(map(int, (run.folder / f"made-{rank}.txt").read_text().split())) for rank in range(2)]
    assert len(made[0]) == 70 and len(made[1]) == 60
    for file, numbers in zip(run.ranks, made, strict=True):
        assert file.counts()["MPI_Sendrecv"] == len(numbers)
    for trace in opened(run.run):
        messages = assert_sizes_agree(trace)
        for source_rank in range(2):
            sizes = messages["size"][messages["source"] == source_rank].tolist()
            assert sorted(sizes) == sorted(made[0] & made[1])
        assert not trace.extra(Leftovers).unmatched()
        assert trace.extra(Leftovers).not_recorded() == 2 * len(made[0] ^ made[1])
        blocking = [(rows, group) for rows, group in collectives(trace) if len(rows)]
        for rows, group in (*blocking, nonblocking_collectives(trace)):
            assert_sizes_of_members(trace, rows, group, sorted(made[0] & made[1]))


def test_switched_threads(openmpi, compiled, traced, analyze):
    """Four threads send and receive while one of them switches: no message is taken for another."""
    run = traced(openmpi, compiled(openmpi, "threads_off.c", "-pthread"), "300", ranks=2)
    for trace in opened(run.run):
        assert_sizes_agree(trace)
        assert not trace.extra(Leftovers).unmatched()
        assert trace.extra(Leftovers).not_recorded() > 0
    analyze("check", run.run).check()


def holes(path: Path) -> int:
    """How many places that are never written stand for several dropped chunks of calls, whose own is used again."""
    with h5py.File(path) as file:
        calls = file["calls"].id
        places = Counter(calls.get_chunk_info(i).byte_offset for i in range(calls.get_num_chunks()))
        return len([n for n in places.values() if n > 1])


@pytest.mark.parametrize("policy", ["stop", "ring", "thin"])
def test_the_file_keeps_to_the_limit_and_messages_to_their_partners(openmpi, compiled, traced, analyze, policy):
    env = {"TRACELIB_LIMIT": "1M", "TRACELIB_LIMIT_POLICY": policy}
    run = traced(openmpi, compiled(openmpi, "channels.c", *FLAGS), "15000", ranks=2, env=env)
    lost = dropped = 0
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        blocks, a = file.tables["blocks"], file.attributes
        kept = (blocks["flags"] & schema.BLOCK_DROPPED) == 0
        assert file.path.stat().st_blocks * 512 <= LIMIT + a["buffer_bytes"]
        assert a["limit_bytes"] == LIMIT
        made = sum(truth.calls[name] for name in truth.calls if name.startswith("MPI_"))
        recorded = int(blocks["count"][kept, 0].sum())
        without = int(blocks["count"][~kept, 0].sum()) if policy != "stop" else int(a["lost_calls"])
        assert recorded + without == made
        assert 1000 < recorded < made / 4
        assert holes(file.path) in {"stop": [0], "ring": [1], "thin": [0, 1]}[policy]  # thin may just have begun anew
        times = file.calls["exit"]  # of dropped chunks zero: no row is there twice
        assert recorded <= np.count_nonzero(times) == len(np.unique(times[times > 0]))
        lost += int(a["lost_calls"])
        dropped += without
    assert (lost == dropped) == (policy == "stop") and (lost == 0) == (policy != "stop")
    said = re.search(r"(\d+) calls \((\d+) more (calls lost|left out) because of TRACELIB_LIMIT\)", run.finished.stderr)
    assert said and int(said[1]) + int(said[2]) == sum(sum(t.calls.values()) - t.calls["both"] for t in run.truths())
    for trace in opened(run.run):
        assert len(assert_sizes_agree(trace)) > 1000
        assert not trace.extra(Leftovers).unmatched()
        missing = unrecorded(trace, Team())
        assert missing.calls == (0 if policy == "stop" else dropped)
        span = trace.duration_ns * 2
        assert 0.1 < missing.time_ns.sum() / span < 1
        assert useful(trace, Team()).time_ns.sum() < span - missing.time_ns.sum()
        where = trace.extra(Losses).unrecorded(0)
        if policy == "stop":
            assert where["end"][-1] > trace.span(0)[1] * 0.98 and len(where) == 1
        elif policy == "ring":
            assert where["begin"][0] == trace.span(0)[0] and len(where) == 1
        else:
            assert where["begin"][0] > 0 and len(where) >= 2
    checked = analyze("check", run.run)
    assert checked.returncode == (1 if policy == "stop" else 0)
    assert ("calls lost after" in checked.stdout) == (policy == "stop")
    assert "recording was off for" in analyze("look", "--no-files", run.run).check().stdout


def test_what_dropped_blocks_leave_behind_does_not_fill_the_limit(openmpi, compiled, traced, analyze):
    """Thousands of buffers: their bookkeeping alone would be more than the limit."""
    env = {"TRACELIB_LIMIT": "1M", "TRACELIB_LIMIT_POLICY": "ring", "TRACELIB_BUFFER": "4K"}
    run = traced(openmpi, compiled(openmpi, "channels.c", *FLAGS), "12000", ranks=2, env=env)
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        blocks = file.tables["blocks"]
        dropped = (blocks["flags"] & schema.BLOCK_DROPPED) != 0
        made = sum(truth.calls[name] for name in truth.calls if name.startswith("MPI_"))
        assert file.path.stat().st_blocks * 512 <= LIMIT + 64 * 1024  # a page of each table
        assert file.attributes["lost_calls"] == 0
        assert int(blocks["count"][:, 0].sum()) == made
        assert int(blocks["count"][~dropped, 0].sum()) == len(file.calls) > 1000
        assert not list(file.path.parent.glob("*.tmp"))
    for trace in opened(run.run):
        assert len(assert_sizes_agree(trace)) > 500  # of which both ranks have kept their side
        assert not trace.extra(Leftovers).unmatched()
        missing = unrecorded(trace, Team())
        assert missing.calls == sum(trace.extra(Losses).dropped_calls(rank) for rank in range(2)) > 100000
        for rank in range(2):
            calls = np.concatenate(list(trace.calls(rank)))
            assert trace.procedures[calls["call"][-1]] == "MPI_Finalize"
            times = trace.extra(Losses).unrecorded(rank)
            assert times["begin"][0] == trace.span(rank)[0] and len(times) == 1
    analyze("check", run.run).check()


@pytest.mark.parametrize("policy", ["ring", "thin"])
def test_what_is_known_of_left_out_messages_does_not_fill_the_limit(openmpi, compiled, traced, policy):
    """200000 messages on 64 channels, in turns: rows for each buffer of each channel would take ten times the limit."""
    env = {"TRACELIB_LIMIT": "1M", "TRACELIB_LIMIT_POLICY": policy}
    run = traced(openmpi, compiled(openmpi, "many_channels.c"), "200000", "64", ranks=1, env=env)
    (file,) = run.ranks
    blocks, skipped = file.tables["blocks"], file.tables["skipped"]
    assert file.attributes["lost_calls"] == 0
    assert file.path.stat().st_blocks * 512 <= LIMIT + file.attributes["buffer_bytes"]
    assert int(blocks["count"][:, 0].sum()) == 3 * 200000 + 2
    kinds = skipped["what"] & (0xFFFF ^ schema.SKIPPED_BY_DROPPING)
    sent, received = (
        int(skipped["count"][kinds == what].sum()) for what in (RequestKind.SEND_DONE, RequestKind.RECV_DONE)
    )
    for trace in opened(run.run):
        messages = len(trace.messages())
        assert (sent, received) == (200000 - messages, 200000 - messages)
        assert messages > 500 and not trace.extra(Leftovers).unmatched()


def test_a_ring_survives_being_killed(openmpi, compiled, tmp_path):
    """At any moment, also while blocks are dropped: the newest calls are there, no message is taken for another."""
    program = compiled(openmpi, "channels.c", *FLAGS)
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        mark = uuid.uuid4().hex
        env = matrix.environment(openmpi) | {
            "LD_PRELOAD": str(LIBRARY), "TRACELIB_SPOOL": str(folder), MARK: mark, "TRACELIB_LIMIT": "3M",
            "TRACELIB_LIMIT_POLICY": "ring", "TRACELIB_BUFFER": "128K",
            "OMPI_MCA_btl_vader_backing_directory": str(folder),
        }  # fmt: skip
        words = [
            "timeout",
            "-k",
            "1",
            str(patient(30)),
            openmpi.mpirun,
            "-n",
            "2",
            str(program),
            "100000000",
            "ordered",
        ]
        process = subprocess.Popen(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + patient(20)
            while len(pids := those_that_dropped(folder / "run.h5")) < 2:
                assert time.monotonic() < deadline, "nothing was dropped"
                time.sleep(0.05)
            time.sleep(0.01 * number)
            subprocess.run(["kill", f"-{signal.SIGKILL}", str(pids[number % 2])], check=True)
            process.wait(patient(20))
        finally:
            end_marked(mark)
            process.wait(patient(10))
        for trace in opened(folder / "run.h5"):
            assert len(assert_sizes_agree(trace)) > 500


def those_that_dropped(run: Path) -> list[int]:
    """Process ids of the ranks with dropped blocks. Their files grow: what cannot be read now can be later."""
    found = []
    for path in sorted(run.with_suffix(".ranks").glob("[0-9]*.h5")):
        with suppress(OSError), h5py.File(path, locking=False) as file:
            if (file["blocks"]["flags"] & schema.BLOCK_DROPPED).any():
                found.append(int(file.attrs["pid"]))
    return found


@pytest.mark.timed
def test_tracing_begins_after_a_delay_and_ends_after_its_duration(openmpi, compiled, traced):
    """A barrier every 10 ms for a second, from 0.3 s to 0.7 s recorded. Nothing is before, while it is written how many
    there were until then, and after."""
    env = {"TRACELIB_DELAY": "300ms", "TRACELIB_DURATION": "0.4"}
    run = traced(openmpi, compiled(openmpi, "barriers.c", *FLAGS), "100", ranks=2, env=env)
    for trace in opened(run.run):
        for rank in range(2):
            calls = np.concatenate(list(trace.calls(rank)))
            assert {trace.procedures[call] for call in calls["call"]} == {"MPI_Barrier"}
            assert 1 <= len(calls) <= 42  # as many as 10 ms leave room for; fewer where others use the CPUs
            assert calls["enter"][-1] - calls["enter"][0] <= 0.4e9 + patient(0.02) * 1e9
            assert len(trace.extra(Losses).unrecorded(rank)) == 3


@pytest.mark.parametrize(("start", "expected"), [("off", 100), ("on", 200)])
def test_tracing_begins_off_until_the_program_wants_it(openmpi, compiled, traced, start, expected):
    """100 barriers, MPI_Pcontrol(1), 100 barriers."""
    run = traced(
        openmpi,
        compiled(openmpi, "barriers.c", *FLAGS),
        "100",
        "on",
        ranks=2,
        env={"TRACELIB_START": start},
    )
    for file in run.ranks:
        assert file.counts()["MPI_Barrier"] == expected
    for trace in opened(run.run):
        assert 0 <= unrecorded(trace, Team()).time_ns.sum() <= 2 * trace.duration_ns


def test_only_inside_a_region(openmpi, compiled, traced):
    """Region "even" holds 30 barriers and 5, "odd" 20, outside are 10: ten times."""
    env = {"TRACELIB_REGIONS": "even,none"}
    run = traced(openmpi, compiled(openmpi, "barriers.c", *FLAGS), "0", "regions", ranks=2, env=env)
    for file in run.ranks:
        assert file.counts() == Counter({"MPI_Barrier": 350})


NONSENSE = {
    "TRACELIB_LIMIT": "12", "TRACELIB_LIMIT_POLICY": "circle", "TRACELIB_START": "maybe", "TRACELIB_DELAY": "soon",
    "TRACELIB_DURATION": "-3s", "TRACELIB_CALLS": "p2q", "TRACELIB_BURSTS": "long",
}  # fmt: skip


def test_nonsense_is_one_line_each_and_everything_is_recorded(openmpi, compiled, traced):
    run = traced(openmpi, compiled(openmpi, "channels.c", *FLAGS), "50", ranks=2, env=NONSENSE)
    for name, value in NONSENSE.items():
        assert run.finished.stderr.count(f"{name}={value}") == 1  # rank 0 for all
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        del truth.calls["both"]
        assert file.counts() == truth.calls
