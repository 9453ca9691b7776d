"""Numbers that the commands print for runs whose answers are found by hand, and for published traces."""

import json

import pytest
from paths import EPOCH
from synthetic import FIRST, WORLD, call, flush, poll, request, write_run

from analyzer.cli import main
from tracelib.schema import RequestKind


@pytest.fixture
def run(tmp_path):
    """Two ranks of 1000 ns: rank 0 computes 600 ns, rank 1 900 ns; two messages; one Allreduce."""
    rank0 = [
        call("MPI_Send", 100, 200, comm=WORLD, peer=1, tag=1, sent=1000),
        call("MPI_Irecv", 300, 310, comm=WORLD, peer=1, tag=2),
        call("MPI_Wait", 400, 490, comm=WORLD, peer=1, tag=2, received=24),
        call("MPI_Allreduce", 800, 1000, comm=WORLD, sent=8, received=8),
    ]
    rank1 = [
        call("MPI_Recv", 150, 200, comm=WORLD, peer=0, tag=1, received=1000),
        call("MPI_Isend", 350, 360, comm=WORLD, peer=0, tag=2, sent=24),
        call("MPI_Wait", 380, 390, comm=WORLD, peer=0, tag=2),
        call("MPI_Allreduce", 970, 1000, comm=WORLD, sent=8, received=8),
    ]
    requests = [request(RequestKind.RECV_DONE, 300, 490, peer=1, tag=2, bytes=24)]
    sent = [request(RequestKind.SEND_DONE, 350, 390, peer=0, tag=2, bytes=24)]
    ranks = [{"calls": rank0, "requests": requests, "command": "./app 1"}, {"calls": rank1, "requests": sent}]
    return write_run(tmp_path, ranks)


def info(path, capsys):
    assert main(["look", "--no-files", str(path), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_info(run, capsys):
    found = info(run, capsys)
    assert (found["file"], found["ranks"], found["command"]) == (str(run), 2, "./app 1")
    assert found["runtime_s"] == pytest.approx(1e-6)
    assert found["useful_s"] == pytest.approx({"total": 1.5e-6, "mean": 0.75e-6, "max": 0.9e-6, "min": 0.6e-6})
    calls = found["calls"]
    assert {name: c["count"] for name, c in calls.items()} == {
        "MPI_Send": 1, "MPI_Recv": 1, "MPI_Isend": 1, "MPI_Irecv": 1, "MPI_Wait": 2, "MPI_Allreduce": 2
    }  # fmt: skip
    assert calls["MPI_Allreduce"]["time_s"] == pytest.approx(230e-9)
    assert calls["MPI_Allreduce"]["per_rank"]["time_s"] == pytest.approx({"mean": 115e-9, "max": 200e-9, "min": 30e-9})
    moved = {name: (c["sent_bytes"], c["received_bytes"]) for name, c in calls.items()}
    assert moved == {
        "MPI_Send": (1000, 0), "MPI_Recv": (0, 1000), "MPI_Isend": (24, 0), "MPI_Irecv": (0, 24),
        "MPI_Wait": (0, 0), "MPI_Allreduce": (16, 16),
    }  # fmt: skip
    assert (found["messages"]["count"], found["messages"]["bytes"]) == (2, 1024)
    assert [(s["from_bytes"], s["to_bytes"], s["count"]) for s in found["messages"]["sizes"]] == [
        (16, 31, 1),
        (512, 1023, 1),
    ]
    assert found["matrix"]["bytes"] == [[0, 1000], [24, 0]]
    efficiency = {name: value for name, value in found["efficiency"].items() if isinstance(value, float)}
    replayed = {
        "serialization_efficiency": 1,
        "transfer_efficiency": 0.9,
        "ideal_runtime_s": 9e-7,
    }
    # rank 1 never waits
    casas = {"micro_load_balance": 1, "real_communication_efficiency": 0.9, "ideal_useful_max_s": 9e-7}
    measured = {"parallel_efficiency": 0.75, "load_balance": 0.75 / 0.9, "communication_efficiency": 0.9}
    assert efficiency == pytest.approx(measured | replayed | casas | {"runtime_s": 1e-6})
    assert found["collectives"][0] | {"time_s": 0} == {
        "communicator": found["collectives"][0]["communicator"], "size": 2, "call": "MPI_Allreduce", "count": 2,
        "time_s": 0, "sent_bytes": 16, "received_bytes": 16,
    }  # fmt: skip
    assert (found["flushes"]["count"], found["unmatched"], found["problems"]) == (0, [], [])


def test_the_look_names_rank_and_call(run, tmp_path, capsys, monkeypatch):
    paraver = tmp_path / "bin" / "wxparaver"
    paraver.parent.mkdir()
    paraver.touch(0o755)
    monkeypatch.setenv("PATH", str(paraver.parent))
    assert main([str(run)]) == 0
    text = capsys.readouterr().out
    flat = " ".join(text.split())
    assert "rank 1 computes 20.0 % longer than the mean (900 ns against 750 ns)" in flat
    assert "the others wait for it in MPI_Allreduce" in flat
    assert "Parallel efficiency 75.0 %" in flat
    assert "rank 1, which computes longest, spends 100 ns (10.0 %) in MPI, 50 ns of it in MPI_Recv" in flat
    assert "2 messages, 1.00 KiB, 512 B on average" in flat
    assert f"Next: wxparaver {run.with_suffix('.prv')}" in text
    assert max(map(len, text.splitlines())) <= max(
        80, *(len(line) for line in text.splitlines() if str(run.parent) in line)
    )
    assert "\x1b" not in text


def test_a_command_that_is_not_here_is_not_named(run, capsys, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert main([str(run)]) == 0
    text = capsys.readouterr().out
    assert "wxparaver" not in text and "Next:" not in text.splitlines()


def test_folded_polls_count_each(tmp_path, capsys):
    ranks = [{"calls": [call("MPI_Init", 0, 10)], "polls": [poll("MPI_Testany", 100, 200, inside=30, count=7)]}]
    calls = info(write_run(tmp_path, ranks), capsys)["calls"]
    assert (calls["MPI_Testany"]["count"], calls["MPI_Testany"]["time_s"]) == (7, pytest.approx(30e-9))


def test_flushes_and_the_buffer_that_avoids_them(tmp_path, capsys):
    """Two flushes of a 1 MiB buffer and one that closes the trace: three MiB held it all, as a power of two four."""
    events = [row for begin in (100, 300, 500) for row in flush(begin, begin + 50)]
    path = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 10)], "events": events, "buffer_bytes": 1 << 20}])
    found = info(path, capsys)
    assert found["flushes"] == {"count": 3, "time_s": pytest.approx(150e-9), "mode": "subtract", "computing_s": 0.0}
    assert main(["look", "--no-files", str(path)]) == 0
    assert "TRACELIB_BUFFER=4M would hold all records until the end of the run." in " ".join(
        capsys.readouterr().out.split()
    )


def test_threads_that_end_flush_without_a_full_buffer(tmp_path, capsys):
    """Thread 1 flushes when it ends, thread 0 when the trace is closed: no buffer is too small."""
    calls = [call("MPI_Init", 0, 10), call("MPI_Recv", 20, 30, comm=WORLD, thread=1)]
    events = [*flush(40, 50, thread=1), *flush(90, 100)]
    path = write_run(tmp_path, [{"calls": calls, "events": events, "buffer_bytes": 1 << 20}])
    assert main(["look", "--no-files", str(path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "The buffer was written to the file 2 times. That took 20 ns, " in out
    assert "All of it was at the end, when a thread ended" in out
    assert "TRACELIB_BUFFER" not in out


def test_unmatched_messages_are_named(tmp_path, capsys):
    lonely = [call("MPI_Send", 10, 20, comm=WORLD, peer=1, tag=3, sent=5)]
    path = write_run(tmp_path, [{"calls": lonely}, {"calls": [call("MPI_Init", 0, 5)]}])
    (found,) = info(path, capsys)["unmatched"]
    assert (found["rank"], found["call"], found["peer"], found["tag"], found["count"]) == (0, "MPI_Send", 1, 3, 1)
    assert main(["check", str(path)]) == 1
    assert "rank 0: 1 x MPI_Send to rank 1, tag 3" in capsys.readouterr().out


def test_unmatched_halves_of_a_sendrecv_are_told_apart(tmp_path, capsys):
    calls = [call("MPI_Sendrecv", 10, 20, comm=WORLD, peer=1, tag=3, sent=5, received=7)]
    received = [request(RequestKind.RECEIVED, 10, 20, peer=1, tag=3, bytes=7)]
    ranks = [{"calls": calls, "requests": received}, {"calls": [call("MPI_Init", 0, 5)]}]
    path = write_run(tmp_path, ranks)
    assert {(u["side"], u["bytes"]) for u in info(path, capsys)["unmatched"]} == {("send", 5), ("receive", 7)}
    assert main(["look", "--no-files", str(path)]) == 0
    out = capsys.readouterr().out
    assert "rank 0: 1 x MPI_Sendrecv to rank 1, tag 3, 5 B" in out
    assert "rank 0: 1 x MPI_Sendrecv from rank 1, tag 3, 7 B" in out


def test_a_rank_that_cannot_be_read_is_no_idle_rank(tmp_path, capsys):
    """Within 100 ns, rank 0 computes 60 and rank 2 90; nothing is known of rank 1."""
    barriers = [[call("MPI_Barrier", begin, 100, comm=WORLD)] for begin in (60, 0, 90)]
    path = write_run(tmp_path, [{"calls": calls} for calls in barriers], missing=[1])
    found = info(path, capsys)
    assert (found["ranks"], found["missing"]) == (3, [1])
    assert found["efficiency"]["load_balance"] == pytest.approx(75 / 90)
    assert found["efficiency"]["parallel_efficiency"] == pytest.approx(0.75)
    assert found["useful_s"] == pytest.approx({"total": 150e-9, "mean": 75e-9, "max": 90e-9, "min": 60e-9})
    assert found["calls"]["MPI_Barrier"]["per_rank"]["time_s"]["min"] == pytest.approx(10e-9)
    assert main(["look", "--no-files", str(path)]) == 0
    out = capsys.readouterr().out
    assert "3 ranks (1 missing)" in out and "50 ns of 2 ranks x 100 ns is not computation" in out
    assert main(["efficiency", str(path)]) == 0
    assert "2 of 3" in capsys.readouterr().out


def test_an_intercommunicator_has_the_ranks_of_both_groups(tmp_path, capsys):
    ranks = [{"calls": [call("MPI_Barrier", 10, 20, comm=FIRST)]}] * 3
    (barrier,) = info(write_run(tmp_path, ranks, [([0, 2], [1])]), capsys)["collectives"]
    assert (barrier["size"], barrier["count"]) == (3, 3)


def test_check_of_a_good_run(run, capsys):
    assert main(["check", str(run)]) == 0
    assert capsys.readouterr().out == f"{run}: good, 2 ranks\n"
    assert main(["check", str(run), "--json"]) == 0
    good = {
        "schema": "check",
        "version": 1,
        "file": str(run),
        "good": True,
        "findings": [],
        "notes": [],
        "chosen": None,
        "clocks": [],
        "repair": None,
    }
    assert json.loads(capsys.readouterr().out) == good


def test_check_finds_a_member_that_left_out_a_collective(tmp_path, capsys):
    barrier = [call("MPI_Barrier", 10, 20, comm=FIRST), call("MPI_Barrier", 30, 40, comm=WORLD)]
    path = write_run(tmp_path, [{"calls": barrier}, {"calls": barrier[1:]}], [[0, 1]])
    assert main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert "rank 1 made 0 collective calls, rank 0 1" in out


def test_check_finds_lost_rows_and_missing_ranks(tmp_path, capsys):
    ranks = [{"calls": [call("MPI_Init", 0, 5)], "lost_calls": 12}, {"calls": [call("MPI_Init", 0, 5)]}]
    path = write_run(tmp_path, ranks, missing=[1])
    assert main(["check", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["good"]
    assert any("12 calls" in line for line in found["findings"])
    assert any(line.startswith("rank 1:") for line in found["findings"])


def test_check_finds_calls_out_of_order(tmp_path, capsys):
    calls = [call("MPI_Barrier", 10, 50, comm=WORLD), call("MPI_Barrier", 40, 60, comm=WORLD)]
    assert main(["check", str(write_run(tmp_path, [{"calls": calls}]))]) == 1
    assert "rank 0: 1 calls begin before the previous call of their thread ended" in capsys.readouterr().out


def expected() -> dict[str, list[str]]:
    lines = (EPOCH / "expected.csv").read_text().splitlines()
    return {line.split(";")[0]: line.split(";")[1:] for line in lines}


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces of the data folder are not here")
def test_efficiency_of_published_traces(capsys):
    files = [str(EPOCH / f"epoch_{n}proc.prv.gz") for n in (1, 2, 4)]
    assert main(["efficiency", *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    table = expected()
    for key, name in (
        ("parallel_efficiency", "Parallel efficiency"),
        ("load_balance", "Load balance"),
        ("communication_efficiency", "Communication efficiency"),
    ):
        assert [f"{100 * e[key]:.6f}" for e in found] == table[name]
    assert [f"{round(1e9 * e['runtime_s']) / 1000:.2f}" for e in found] == table["#Runtime (us)"]


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces of the data folder are not here")
@pytest.mark.parametrize(("column", "ranks"), [(0, 1), (1, 2), (2, 4)])
def test_useful_time_of_published_traces(column, ranks, capsys):
    found = info(EPOCH / f"epoch_{ranks}proc.prv.gz", capsys)["useful_s"]
    table = expected()
    for key, name in (("total", "total"), ("mean", "average"), ("max", "maximum")):
        assert f"{1e6 * found[key]:.2f}" == table[f"#Useful duration ({name})"][column]


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces of the data folder are not here")
def test_one_file_gives_an_object_and_not_a_list(capsys):
    assert main(["efficiency", str(EPOCH / "epoch_4proc.prv.gz"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ranks"] == 4
