"""Small runs cut out of large ones that are known to the nanosecond."""

from __future__ import annotations

import json

import numpy as np
import pytest
from nested_runs import Planted, Start, Work
from synthetic import WORLD, call, request, write_run

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.report.words import units
from analyzer.structure.cut.chosen_iterations import nearest
from tracelib.schema import RequestKind

ITERATIONS, STEP_NS = 40, 10_000
KINDS = "ring", "skip", "reduction", "broadcast", "gather", "transposition"


def run_of_steps(folder, *, slow: int = 17):
    """Two ranks: computation of 6 and 5 us, a message each way, a reduction; one iteration takes four times as long."""
    ranks = []
    for rank, computed in enumerate((6000, 5000)):
        calls, requests, at = [call("MPI_Init", 10, 1000)], [], 1000
        calls.append(call("MPI_Bcast", 1500, 2000, comm=WORLD, peer=0, sent=8 * (1 - rank), received=8 * rank))
        at = 2000
        for number in range(ITERATIONS):
            factor = 4 if number == slow else 1
            begin = at + factor * computed
            end = at + factor * STEP_NS
            calls.append(call("MPI_Irecv", begin, begin + 100, comm=WORLD, peer=1 - rank, tag=3))
            requests.append(
                request(RequestKind.RECV_DONE, begin, end - 2000, comm=WORLD, peer=1 - rank, tag=3, bytes=80)
            )
            calls.append(call("MPI_Isend", begin + 200, begin + 300, comm=WORLD, peer=1 - rank, tag=3, sent=80))
            requests.append(
                request(RequestKind.SEND_DONE, begin + 200, end - 2000, comm=WORLD, peer=1 - rank, tag=3, bytes=80)
            )
            calls.append(call("MPI_Waitall", begin + 400, end - 2000))
            calls.append(call("MPI_Allreduce", end - 1500, end, comm=WORLD, sent=8, received=8))
            at = end
        calls.append(call("MPI_Finalize", at + 500, at + 1000))
        ranks.append({"calls": calls, "requests": requests})
    return write_run(folder, ranks)


def numbers(capsys, *words):
    assert main([*map(str, words)]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_structure(tmp_path, capsys):
    found = numbers(capsys, "structure", run_of_steps(tmp_path), "--json")
    (level,) = found["levels"]
    assert (level["level"], level["iterations"]) == (1, ITERATIONS)
    assert level["period_s"] == pytest.approx(STEP_NS / 1e9)
    assert level["begin_s"] == pytest.approx(2e-6)
    assert level["end_s"] == pytest.approx((2000 + (ITERATIONS + 3) * STEP_NS) / 1e9)
    assert level["slow"] == [{"iteration": 18, "times": 4.0}]
    assert level["body"] == "1 exchange, 1 reduction"


def test_what_a_part_costs_by_hand(tmp_path, capsys):
    """In an iteration of 10 us rank 0 is 3.3 us in MPI and rank 1 4.3 us, in the slow one 15.3 and 19.3 us. What comes
    before and after the loop is too short to be a part of its own: 1.49 us of MPI_Init and MPI_Bcast, 0.5 us of
    MPI_Finalize."""
    (part,) = numbers(capsys, "structure", run_of_steps(tmp_path), "--json")["parts"]
    in_mpi = 39 * (3300 + 4300) / 2 + (15_300 + 19_300) / 2 + 1490 + 500
    assert part["mpi"] == pytest.approx(in_mpi / 433_000)
    assert part["efficiency"] == pytest.approx(1 - in_mpi / 433_000)
    assert main(["structure", str(tmp_path / "run.h5")]) == 0
    assert " 38.7 %    61.3 %" in capsys.readouterr().out


def test_two_typical_iterations_have_the_efficiencies_of_all(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    whole = numbers(capsys, "structure", run, "--json")["levels"][0]["efficiency"]
    small = tmp_path / "small.h5"
    done = numbers(capsys, "cut", run, "--json", "-o", small)
    assert done["end_s"] - done["begin_s"] == pytest.approx(2 * STEP_NS / 1e9)
    assert not done["first_iteration"] <= 18 < done["first_iteration"] + 2
    cut = numbers(capsys, "efficiency", small, "--json")
    assert cut["parallel_efficiency"] == pytest.approx(whole, abs=0.02)
    assert cut["runtime_s"] == pytest.approx(2 * STEP_NS / 1e9)
    assert main(["check", str(small)]) == 0
    trace = open_trace(small)
    assert len(trace.messages()) == 4
    assert [len(block) for rank in (0, 1) for block in trace.calls(rank)] == [8, 8]
    trace.close()


def test_what_crosses_the_edges_is_counted_and_matched_with_nothing(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    small = tmp_path / "small.h5"
    begin = (2000 + 3 * STEP_NS + 5250) / 1e9  # rank 1 has posted its receive and sent, rank 0 computes
    done = numbers(capsys, "cut", run, "--json", "-o", small, "--from", begin, "--to", begin + 3 * STEP_NS / 1e9)
    assert (done["messages"], done["messages_sent_before"], done["messages_received_later"]) == (4, 1, 2)
    assert main(["check", str(small)]) == 0
    trace = open_trace(small)
    assert len(trace.messages()) == 4
    assert trace.duration_ns == 3 * STEP_NS
    trace.close()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_cut_paraver_trace_has_whole_iterations_and_says_both_sizes(tmp_path, capsys, count):
    """The reader of Paraver traces has no remark about it, and it is as long as `count` iterations."""
    run = run_of_steps(tmp_path)
    small = tmp_path / "small.prv"
    assert main(["cut", str(run), "--iterations", str(count), "-o", str(small)]) == 0
    said = capsys.readouterr().out
    before = sum(path.stat().st_size for path in (run, *(run.with_suffix(".ranks")).iterdir()))
    after = sum(small.with_suffix(ending).stat().st_size for ending in (".prv", ".pcf", ".row"))
    assert f"; {units.size(after)}, {units.size(before)} before" in said
    trace = open_trace(small)
    try:
        assert trace.problems == []
        assert trace.duration_ns == count * STEP_NS
        names = dict.fromkeys(("MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce"), 0)
        for rank in (0, 1):
            for block in trace.calls(rank):
                for number in block["call"].tolist():
                    names[trace.procedures[number]] += 1
        assert names == dict.fromkeys(names, 2 * count)
    finally:
        trace.close()
    assert main(["cut", str(small), "--to", "0.000005", "-o", str(tmp_path / "smaller.prv")]) == 0
    assert f", {units.size(after)} before" in capsys.readouterr().out


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_iterations_that_signals_alone_show_are_cut(tmp_path, capsys, seed):
    """12 of 100 ms: 60 ms of computation, then 4 to 8 short ones in 20 ms and one of 20 ms, each before a call of
    another kind."""
    random = np.random.default_rng(seed)
    steps = [Start(100)]
    for _ in range(12):
        steps.append(Work(60, str(random.choice(KINDS))))
        short = int(random.integers(4, 9))
        steps += [Work(20 / short, str(random.choice(KINDS))) for _ in range(short)]
        steps.append(Work(20, str(random.choice(KINDS))))
    run = Planted(4).run(steps).written(tmp_path, counters=False)
    assert numbers(capsys, "structure", run, "--method", "calls", "--json")["iterations"] is None
    done = numbers(capsys, "cut", run, "-o", tmp_path / "small.h5", "--json", "--iterations", "2")
    assert done["end_s"] - done["begin_s"] == pytest.approx(0.2, rel=0.02)
    assert 0.05 < done["begin_s"] < done["end_s"] < 1.35
    assert main(["check", str(tmp_path / "small.h5")]) == 0


@pytest.mark.parametrize("begin_ns", [1400, 1600, 11_800, 12_100])
def test_cuts_at_any_time_are_sound(tmp_path, begin_ns):
    run = run_of_steps(tmp_path)
    for length_ns in (300, 9000, 21_000):
        small = tmp_path / "small.h5"
        begin, end = str(begin_ns / 1e9), str((begin_ns + length_ns) / 1e9)
        assert main(["cut", str(run), "-q", "-o", str(small), "--from", begin, "--to", end]) == 0
        assert main(["check", str(small)]) == 0


def run_of_starts(folder, send_started, receive_started, send_done, receive_done, ordinal):
    """Two ranks that start the same requests again in each of 20 steps of 1 us, and wait for them."""
    ranks = []
    for rank in range(2):
        calls, requests, at = [call("MPI_Init", 10, 1000)], [], 1000
        for _ in range(20):
            more = {"comm": WORLD, "peer": 1 - rank, "tag": 3}
            kinds = (at + 300, receive_started, receive_done), (at + 400, send_started, send_done)
            for enter, started, done in kinds:
                calls.append(call("MPI_Start", enter, enter + 50))
                requests.append(request(started + (ordinal << 8), enter, 0, **more, bytes=80))
                requests.append(request(done + (ordinal << 8), enter, at + 900, **more, bytes=80))
            calls.append(call("MPI_Waitall", at + 500, at + 900))
            at += 1000
        requests.sort(key=lambda row: row["completed"] or row["posted"])
        ranks.append({"calls": [*calls, call("MPI_Finalize", at + 500, at + 1000)], "requests": requests})
    return write_run(folder, ranks)


PERSISTENT = RequestKind.SEND_STARTED, RequestKind.RECV_STARTED, RequestKind.SEND_DONE, RequestKind.RECV_DONE, 0
PARTITIONED = (
    RequestKind.PARTITIONED_SEND_STARTED, RequestKind.PARTITIONED_RECV_STARTED, RequestKind.PARTITIONED_SEND_DONE,
    RequestKind.PARTITIONED_RECV_DONE, 1,
)  # fmt: skip


@pytest.mark.parametrize("kinds", [PERSISTENT, PARTITIONED], ids=["persistent", "partitioned"])
@pytest.mark.parametrize("begin_ns", [0, 3350, 4000, 4450, 6700])
def test_cuts_of_requests_that_are_started_again_are_sound(tmp_path, kinds, begin_ns):
    run, small = run_of_starts(tmp_path, *kinds), tmp_path / "small.h5"
    assert main(["check", str(run)]) == 0
    for length_ns in (1000, 2500, 9000):
        begin, end = str(begin_ns / 1e9), str((begin_ns + length_ns) / 1e9)
        assert main(["cut", str(run), "-q", "-o", str(small), "--from", begin, "--to", end]) == 0
        assert main(["check", str(small)]) == 0
        assert main(["efficiency", str(small)]) == 0


@pytest.mark.parametrize("kinds", [PERSISTENT, PARTITIONED], ids=["persistent", "partitioned"])
def test_a_cut_that_leaves_nothing_out_has_all_messages(tmp_path, kinds):
    run, small = run_of_starts(tmp_path, *kinds), tmp_path / "small.h5"
    assert main(["cut", str(run), "-q", "-o", str(small), "--from", "0", "--to", "22e-6"]) == 0
    assert len(open_trace(small).messages()) == len(open_trace(run).messages()) == 40


def test_mistakes_are_one_line(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    for words in (["--iterations", "99"], ["--level", "2"], ["--from", "9"], ["--first", "40"]):
        assert main(["cut", str(run), *words]) != 0
        assert len(capsys.readouterr().err.splitlines()) == 1
    for words in (["--signal", "PAPI_L1_DCM"], ["-o", "x.svg"]):
        assert main(["structure", str(run), *words]) != 0
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_any_values_over_time(tmp_path, capsys):
    path = tmp_path / "v.csv"
    path.write_text("\n".join(f"{k * 0.01},{[3, 3, 3, 0, 1][k // 8 % 5]}" for k in range(40 * 25)))
    found = numbers(capsys, "structure", "--series", path, "--json")
    assert found["iterations"] == 25
    assert found["period_s"] == pytest.approx(0.4, rel=0.01)


def test_iterations_are_chosen_by_all_three_factors():
    """Two ranks, 1 us each: in the first four now one computes, now the other, in the others each half as long."""
    edges = np.tile(np.arange(9) * 1000, (2, 1))
    computed = np.array([[800, 200, 800, 200, 500, 500, 500, 500], [200, 800, 200, 800, 500, 500, 500, 500]])
    useful = np.concatenate([np.zeros((2, 1), np.int64), np.cumsum(computed, axis=1)], axis=1)
    none = np.zeros(8, np.int64)
    one, two = (nearest(edges, useful, none, count) for count in (1, 2))
    assert (one.first, one.off) == (4, 0)
    assert (two.first, two.off) == (0, 0)  # balanced over two, as over all
    written = none.copy()
    written[[0, 1, 2, 3, 4]] = 1
    assert nearest(edges, useful, written, 2).first == 5
    computed[1, 4:] = 300  # parallel efficiency 0.45, load balance 0.9, communication efficiency 0.5
    useful = np.concatenate([np.zeros((2, 1), np.int64), np.cumsum(computed, axis=1)], axis=1)
    whole = nearest(edges, useful, none, 2)
    assert whole.first == 3 and whole.off == pytest.approx(0.9 - 9 / 11)  # 700 and 1100 of 2000
