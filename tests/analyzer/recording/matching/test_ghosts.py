"""Messages and collectives that a rank did not record keep all others in order: full against partial traces."""

import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import COLUMNS, COMMUNICATORS, receive, send, simulations
from synthetic import WORLD, call, event, flush, request, skipped, write_run

from analyzer.metrics.unrecorded import unrecorded
from analyzer.metrics.useful import useful
from analyzer.pairing.collective_calls import collectives
from analyzer.pairing.nonblocking_collectives import nonblocking_collectives
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.report.look.summary import summarize
from analyzer.trace import Leftovers, Losses, State, TracerTime
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from analyzer.waits.one_sided import fences
from tracelib import schema
from tracelib.schema import RequestKind

RECEIVED = (RequestKind.RECV_DONE, RequestKind.RECEIVED, RequestKind.RECV_FREED)
SENDS = ("MPI_Send", "MPI_Isend")


SMALL_STEPS = ReadOptions(sizes=ReadSizes(index_rows=3))


def opened(ranks, communicators=()):
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), ranks, communicators)), options=SMALL_STEPS)
        yield trace
        trace.close()


def split(rank, cuts):
    """The rows of a rank as (table, row) of each of its buffers, cut at these times of recording."""
    rows = [(max(r["exit"], r["enter"]), "calls", r) for r in rank.calls]
    rows += [(r["completed"] or r["posted"] + 1, "requests", r) for r in rank.requests]
    blocks = defaultdict(list)
    for time, table, row in sorted(rows, key=lambda r: r[0]):
        blocks[sum(time > cut for cut in cuts)].append((table, row))
    return [blocks[k] for k in range(len(cuts) + 1)]


def channel(row):
    return row["comm"], row["peer"], row["tag"]


def messages_of(block):
    """(What, channel, posted) of each message that the rows of a buffer stand for."""
    for table, row in block:
        if table == "calls" and row["call"] in SENDS and row["peer"] >= 0:
            yield RequestKind.SEND_DONE, channel(row), row["enter"]
        if table == "calls" and row["call"] == "MPI_Recv" and row["peer"] >= 0:
            yield RequestKind.RECV_DONE, channel(row), row["enter"]
        if table == "requests" and row["what"] == RequestKind.SEND_STARTED:
            yield RequestKind.SEND_DONE, channel(row), row["posted"]
        if table == "requests" and row["what"] == RequestKind.SEND_CANCELLED:
            yield RequestKind.SEND_CANCELLED, channel(row), row["posted"]
        if table == "requests" and row["what"] in RECEIVED:
            yield RequestKind.RECV_DONE, channel(row), row["posted"]


def skipped_rows(dropped, kept, join):
    """Rows of `skipped`; with `join` runs of a channel between which nothing recorded was posted are one row."""
    recorded = defaultdict(list)
    for what, where, posted in kept:
        recorded[what, where].append(posted)
    rows = []
    for what, where, posted in sorted(dropped, key=lambda m: m[2]):
        comm, peer, tag = where
        last = next((r for r in reversed(rows) if (r["what"], channel(r)) == (what, where)), None)
        between = last and any(last["time"] <= p <= posted for p in recorded[what, where])
        if join and what != RequestKind.SEND_CANCELLED and last and not between:
            last["time"], last["count"] = posted, last["count"] + 1
        else:
            rows.append(skipped(what, posted, 1, comm=comm, peer=peer, tag=tag))
    return rows


@settings(max_examples=40)
@given(simulations(), st.data())
def test_the_messages_of_a_partial_trace_are_those_of_the_full_one_with_both_sides(mpi, data):
    ranks, sends, receives = [], set(), set()
    for number, rank in enumerate(mpi.ranks):
        cuts = sorted(data.draw(st.lists(st.integers(0, mpi.now), max_size=4)))
        blocks = split(rank, cuts)
        keep = data.draw(st.lists(st.booleans(), min_size=len(blocks), max_size=len(blocks)))
        rows = [row for block, kept in zip(blocks, keep, strict=True) if kept for row in block]
        kept = [m for block, k in zip(blocks, keep, strict=True) if k for m in messages_of(block)]
        dropped = [m for block, k in zip(blocks, keep, strict=True) if not k for m in messages_of(block)]
        ranks.append({table: [row for t, row in rows if t == table] for table in ("calls", "requests")})
        ranks[-1]["skipped"] = skipped_rows(dropped, kept, data.draw(st.booleans()))
        sends |= {(number, posted) for what, _, posted in kept if what == RequestKind.SEND_DONE}
        receives |= {(number, posted) for what, _, posted in kept if what == RequestKind.RECV_DONE}
    sides = [((m[4], m[0]) in sends) + ((m[5], m[1]) in receives) for m in mpi.truth]
    lost = Counter()
    for m in (m for r in mpi.ranks for m in r.unexpected if (m.source, m.posted) in sends):
        lost[m.source, m.peer, m.tag] += 1
    for number, rank in enumerate(mpi.ranks):
        for freed in (r for r in rank.posted if r.freed and (number, r.posted) in receives):
            lost[number, freed.world, freed.tag] += 1
    for trace in opened(ranks, COMMUNICATORS):
        trace._cuts.windows = lambda records=0, rank=-1, least=0, cut=trace._cuts.windows: cut(3, rank)
        assert trace.messages()[COLUMNS].tolist() == sorted(
            m for m, both in zip(mpi.truth, sides, strict=True) if both == 2
        )
        assert trace.extra(Leftovers).not_recorded() == sides.count(1)
        found = Counter()
        for row in trace.extra(Leftovers).unmatched():
            found[row.rank, row.peer, row.tag] += row.count
        assert found == lost


def test_a_receive_whose_send_was_not_recorded_takes_no_other():
    ranks = [
        {"calls": [send(40, 1, size=7)], "skipped": [skipped(RequestKind.SEND_DONE, 30, 1000, peer=1)]},
        {"calls": [receive(5, 6, 0, size=1), receive(60, 70, 0, size=7)], "skipped": [skipped(4, 50, 999, peer=0)]},
    ]
    for trace in opened(ranks):
        assert trace.messages()[["logical_send", "physical_receive", "size"]].tolist() == [(40, 70, 7)]
        assert trace.extra(Leftovers).not_recorded() == 1
        assert not trace.extra(Leftovers).unmatched()


def test_a_cancelled_send_is_no_message_wherever_it_was_recorded():
    """The first of three sends was cancelled; it, its cancelling, or both were not recorded."""
    starts = [request(RequestKind.SEND_STARTED, t, 0, peer=1) for t in (10, 20, 30)]
    calls = [call("MPI_Start", t, t + 1) for t in (10, 20, 30)]
    cancel = request(RequestKind.SEND_CANCELLED, 10, 50, peer=1)
    ghost, gone = skipped(RequestKind.SEND_DONE, 20, 2, peer=1), skipped(RequestKind.SEND_CANCELLED, 10, 1, peer=1)
    ends = [call("MPI_Wait", 45, 50)]
    last = {"calls": calls[2:], "requests": starts[2:]}
    for first in (
        {"calls": calls + ends, "requests": starts, "skipped": [gone]},
        {"calls": calls[2:] + ends, "requests": [*starts[2:], cancel], "skipped": [ghost]},
        last | {"skipped": [ghost, gone]},
    ):
        second = {"calls": [receive(60, 61, 0), receive(62, 63, 0)]}
        for trace in opened([first, second]):
            assert trace.messages()["physical_receive"][-1] == 63
            assert len(trace.messages()) + trace.extra(Leftovers).not_recorded() == 2
            assert not trace.extra(Leftovers).unmatched()


def off(begin, end):
    return [event(begin, schema.TRACING_TYPE, 0), event(end, schema.TRACING_TYPE, 1)]


def test_the_time_in_which_recording_was_off_is_no_computation():
    ranks = [{"calls": [call("MPI_Send", 10, 20, comm=WORLD), call("MPI_Send", 90, 100, comm=WORLD)],
              "events": off(30, 80)}]  # fmt: skip
    for trace in opened(ranks):
        assert useful(trace, Team()).time_ns.tolist() == [10 + 10 + 10]
        assert unrecorded(trace, Team()).time_ns.tolist() == [50]
        disabled = trace.states()[trace.states()["state"] == State.TRACING_DISABLED]
        assert disabled[["begin", "end"]].tolist() == [(30, 80)]
        assert summarize(trace, Team()).efficiency.runtime_ns == 50


def blocks(*rows):
    """A block for each (first calls, calls, first events, events, flags)."""
    table = np.zeros(len(rows), schema.BLOCK)
    for block, (calls, n_calls, events, n_events, flags) in zip(table, rows, strict=True):
        block["first"][[0, 3]], block["count"][[0, 3]], block["flags"] = (calls, events), (n_calls, n_events), flags
    return table


def test_dropped_blocks_are_times_without_recording_and_their_rows_are_gone():
    """The middle one of three buffers, with 2 calls, was dropped: from the flush before it to the one after it."""
    calls = [call("MPI_Send", t, t + 5, comm=WORLD) for t in (10, 30, 40, 60)]
    events = [*flush(20, 22), *flush(50, 52), *flush(70, 72)]
    full = {"calls": calls, "events": events, "blocks": blocks((0, 1, 0, 1, 1), (1, 2, 1, 2, 1), (3, 1, 3, 3, 1))}
    for trace in opened([full]):
        assert useful(trace, Team()).time_ns.tolist() == [72 - 4 * 5 - 3 * 2]
    dropped = full | {"blocks": blocks((0, 1, 0, 1, 1), (1, 2, 1, 2, 3), (3, 1, 3, 3, 1))}
    for trace in opened([dropped]):
        assert [int(c["enter"]) for block in trace.calls(0) for c in block] == [10, 60]
        assert trace.extra(Losses).unrecorded(0)[["begin", "end"]].tolist() == [(20, 52)]
        assert trace.extra(TracerTime).flushes(0)[["begin", "end"]].tolist() == [(70, 72)]
        assert useful(trace, Team()).time_ns.tolist() == [10 + 5 + 8 + 5]
    oldest = full | {"blocks": blocks((0, 1, 0, 1, 3), (1, 2, 1, 2, 3), (3, 1, 3, 3, 1))}
    for trace in opened([oldest]):
        assert trace.extra(Losses).unrecorded(0)[["begin", "end"]].tolist() == [(0, 52)]
        assert trace.events(0, 60)[["time", "type", "value"]].tolist()[-1] == (52, schema.TRACING_TYPE, 1)


def test_rows_of_a_block_that_a_kill_kept_from_being_dropped_do_not_count():
    """`skipped` has the message of a block that is not marked: the block still stands."""
    of_drop = skipped(RequestKind.SEND_DONE, 10, 1, peer=1) | {
        "what": RequestKind.SEND_DONE | schema.SKIPPED_BY_DROPPING
    }
    ranks = [{"calls": [send(10, 1)], "skipped": [of_drop]}, {"calls": [receive(20, 30, 0)]}]
    for trace in opened(ranks):
        assert len(trace.messages()) == 1


def test_collectives_that_a_rank_did_not_record_count():
    """Rank 0 recorded neither the second barrier nor the second and third broadcast that it only began, and of rank 1
    the first of either was dropped: its third barrier is the third of rank 0, whatever lies between."""
    barriers = [call("MPI_Barrier", t, t + 5, comm=WORLD) for t in (10, 30, 50)]
    began = [call("MPI_Ibcast", t, t + 1, comm=WORLD, peer=0, sent=8) for t in (16, 36, 56, 76)]
    whole = (
        skipped(RequestKind.COLLECTIVE_DONE, 30, 1, peer=0),
        skipped(RequestKind.COLLECTIVE_DONE, 56, 2, peer=0, tag=1),
    )
    dropped = (
        skipped(RequestKind.COLLECTIVE_DONE, 10, 1, peer=0),
        skipped(RequestKind.COLLECTIVE_DONE, 16, 1, peer=0, tag=1),
    )
    ranks = [
        {"calls": [barriers[0], began[0], barriers[2], began[3]], "skipped": [*whole]},
        {"calls": [barriers[1], began[1], barriers[2], *began[2:]], "skipped": [*dropped]},
    ]
    for trace in opened(ranks):
        assert [row["count"].tolist() for row in map(trace.extra(Losses).missed_collectives, range(2))] == [
            [1, 2],
            [1, 1],
        ]
        ((rows, _),) = [(rows, group) for rows, group in collectives(trace) if len(rows)]
        assert rows[["number", "rank", "enter"]].tolist() == [(2, 0, 50), (2, 1, 50)]
        rows, _ = nonblocking_collectives(trace)
        assert rows[["number", "rank", "enter"]].tolist() == [(3, 0, 76), (3, 1, 76)]


def test_fences_after_a_time_without_records_belong_to_nobody():
    """They are not counted where nothing is recorded."""
    fence = [call("MPI_Win_fence", t, t + 5, comm=WORLD) for t in (10, 30, 50)]
    places = [{"enter": t, "offset": -1, "object": 1, "detail": 0, "thread": 0} for t in (10, 30, 50)]
    window = [(7, 0, 8, WORLD, 1, 1, 1, b"")]
    off = [event(20, schema.TRACING_TYPE, 0), event(40, schema.TRACING_TYPE, 1)]
    ranks = [
        {"calls": [fence[0], fence[2]], "accesses": [places[0], places[2]], "objects": window, "events": off},
        {"calls": fence, "accesses": places, "objects": window},
    ]
    for trace in opened(ranks):
        found = [rows["enter"].tolist() for rows, _ in fences(trace, Team()) if len(rows)]
        assert found == [[10, 10]]
