"""`analyze validate`: errors by hand, in parts that sum up, by rank, procedure and region."""

import json

import pytest
from synthetic import WORLD, call, event, label, write_run

from analyzer.cli import main
from analyzer.report.validate import _different
from analyzer.validation import spread
from tracelib.schema import REGION_TYPE, LabelKind

START = 100_000
MACHINE = 'dialect = "thesis"\neager_limit = "1m"\n[node]\nlatency_us = 2\n'
SOLVE = [label(LabelKind.REGION, 1, "solve")]


def two_ranks(folder, name, bursts, send_us=4, receive_us=1, sends=1):
    """Rank 0 computes and sends 1000 bytes, rank 1 computes and receives them; both compute 5 us more. MPI_Init ends at
    100 us. Rank 1 is in region "solve" from half its first burst on to 2 us after the receive."""
    first, second = (START + 1000 * us for us in bursts)
    sent, received = first + 1000 * send_us, second + 1000 * receive_us
    init = call("MPI_Init", 1000, START)
    more = [call("MPI_Comm_rank", first, first, comm=WORLD) for _ in range(sends - 1)]
    begin, end = START + 500 * bursts[1], received + 2000
    region = [event(begin, REGION_TYPE, 1, flags=1), event(end, REGION_TYPE, 1, flags=2)]
    rows = [
        {"calls": [init, *more, call("MPI_Send", first, sent, comm=WORLD, peer=1, tag=1, sent=1000),
                   call("MPI_Finalize", sent + 5000, sent + 90_000)]},
        {"calls": [init, call("MPI_Recv", second, received, comm=WORLD, peer=0, tag=1, received=1000),
                   call("MPI_Finalize", received + 5000, received + 80_000)], "events": region, "labels": SOLVE},
    ]  # fmt: skip
    return str(write_run(folder, rows, name=name))


@pytest.fixture
def answer(tmp_path, capsys):
    (tmp_path / "m.toml").write_text(MACHINE)

    def validate(*words):
        assert main(["validate", *words, "--machine", str(tmp_path / "m.toml"), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return validate


def us(found, *keys):
    return [pytest.approx(found[f"{key}_s"] * 1e6, abs=1e-6) for key in keys]


def test_the_split_by_hand(answer, tmp_path):
    """RUN2 took 10 + 4 + 5 us on rank 0, 30 + 1 + 5 on rank 1. Its replay sends in 2 us and receives at once what has
    been sent: 17 and 35. RUN, of twice its computation before the message: 27 and 65."""
    other = two_ranks(tmp_path, "other", (10, 30))
    run = two_ranks(tmp_path, "run", (20, 60))
    found = answer(run, "--against", other, "--untraced-seconds", "32e-6")["runs"][0]
    assert us(found, "measured", "predicted_from_itself", "predicted", "untraced", "took") == [36, 35, 65, 32, 66]
    assert us(found, "bursts", "model", "tracing", "error") == [30, -1, 4, 33]
    assert found["error"] == pytest.approx(33 / 32)
    assert [us(rank, "measured", "predicted_from_itself", "predicted") for rank in found["ranks"]] == [
        [19, 17, 27], [36, 35, 65],
    ]  # fmt: skip
    assert [us(rank, "measured", "predicted") for rank in found["outside_mpi"]] == [[15, 25], [35, 65]]
    send, receive = found["procedures"]["MPI_Send"], found["procedures"]["MPI_Recv"]
    assert us(send, "measured", "predicted", "bursts", "model") == [4, 2, 0, -2]
    assert us(receive, "measured", "predicted", "bursts", "model") == [1, 0, 0, -1]
    assert set(found["procedures"]) == {"MPI_Send", "MPI_Recv"}
    assert us(found["regions"]["solve"], "measured", "predicted_from_itself", "predicted") == [18, 17, 32]


def test_the_parts_sum_up(answer, tmp_path):
    other = two_ranks(tmp_path, "other", (40, 3), send_us=2, receive_us=44)
    found = answer(two_ranks(tmp_path, "run", (35, 9)), "--against", other, "--untraced-seconds", "43e-6")["runs"][0]
    assert found["bursts_s"] + found["model_s"] + found["tracing_s"] == pytest.approx(found["error_s"])
    for errors in (found["ranks"], found["outside_mpi"], found["procedures"].values(), found["regions"].values()):
        for error in errors:
            assert error["bursts_s"] + error["model_s"] == pytest.approx(error["error_s"])
            assert error["predicted_s"] - error["measured_s"] == pytest.approx(error["error_s"])
    outside = sum(error["predicted_s"] for error in found["outside_mpi"])
    in_mpi = sum(error["predicted_s"] for error in found["procedures"].values())
    assert outside + in_mpi == pytest.approx(sum(error["predicted_s"] for error in found["ranks"]))


def test_a_run_against_itself(answer, tmp_path):
    """Only the model can be wrong then; and not on the machine that the run comes from."""
    run = two_ranks(tmp_path, "run", (10, 30))
    found = answer(run, "--against", run)["runs"][0]
    assert us(found, "bursts", "model", "error") == [0, -1, -1]
    there = str(tmp_path / "there.h5")
    assert main(["replay", run, "--machine", str(tmp_path / "m.toml"), "-o", there, "-q"]) == 0
    found = answer(there, "--against", there)["runs"][0]
    assert found["measured_s"] == pytest.approx(35e-6, abs=1.1e-9)  # calls that take no time last 1 ns
    assert found["error_s"] == pytest.approx(0, abs=2e-9)
    assert found["regions"]["solve"]["error_s"] == pytest.approx(0, abs=2e-9)


def test_runs_on_a_loaded_machine(answer, tmp_path, capsys):
    """The same computation, but receives that last 1 to 61 us: what is predicted from them does not differ."""
    runs = [two_ranks(tmp_path, f"run{k}", (10, 30), receive_us=1 + 30 * k) for k in range(3)]
    found = answer(*runs, "--against", runs[0])
    assert found["spread_measured"] == pytest.approx((96 - 36) / 36)
    assert found["spread_predicted"] == pytest.approx(0)
    assert main(["validate", *runs, "--against", runs[0], "--machine", str(tmp_path / "m.toml")]) == 0
    assert "differ by 166.7 % (longest over shortest), the predictions from them by 0.0 %" in " ".join(
        capsys.readouterr().out.split()
    )


def test_the_report(answer, tmp_path, capsys):
    other = two_ranks(tmp_path, "other", (10, 30))
    run = two_ranks(tmp_path, "run", (20, 60), sends=3)
    assert main(["validate", run, "--against", other, "--machine", str(tmp_path / "m.toml")]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    said = " ".join(out.split())
    assert "comes from the bursts: run.h5 did not compute for the same time as other.h5" in said
    assert "run.h5 and other.h5 make different calls: MPI_Comm_rank 2 and 0 times." in said


@pytest.mark.parametrize(
    "words, says", [(("one.h5",), "different numbers of ranks: "), (("run.h5", "none.h5"), "no such file")]
)
def test_mistakes(tmp_path, capsys, words, says):
    other = two_ranks(tmp_path, "run", (10, 30))
    alone = [{"calls": [call("MPI_Init", 0, 10), call("MPI_Finalize", 20, 30)]}]
    write_run(tmp_path, alone, name="one")
    files = [str(tmp_path / word) for word in words]
    assert main(["validate", *files, "--against", other, "--machine", "ideal"]) == 1
    assert says in capsys.readouterr().err


def test_threads_that_call_side_by_side_are_not_compared(tmp_path, capsys):
    calls = [call("MPI_Barrier", at, at, comm=WORLD, thread=thread) for thread in (0, 1) for at in (10, 20)]
    run = str(write_run(tmp_path, [{"calls": calls}]))
    assert main(["validate", run, "--against", run, "--machine", "ideal"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "several threads of rank 0 communicate" in said
    assert "only one thread of each rank may call MPI" in said and "whole run" not in said


@pytest.mark.parametrize(("times", "found"), [((2, 3, 2.5), 0.5), ((5,), None), ((), None), ((0, 5), None)])
def test_spread_by_hand(times, found):
    """(longest - shortest) / shortest, as in the thesis's section 6.3."""
    assert spread(times) == found


def test_what_is_called_as_often_as_time_allows_makes_no_different_run():
    """Polls and probes do not count, also of parts and windows."""
    polled = ("MPI_Test", "MPI_Iprobe", "MPI_Mprobe", "MPI_Request_get_status", "MPI_Parrived", "MPI_Win_test")
    assert _different(dict.fromkeys(polled, 1), dict.fromkeys(polled, 2)) == ""
    assert _different({"MPI_Send": 1}, {"MPI_Send": 2}) == "MPI_Send 1 and 2 times"
