"""What a prediction of a run of ours looks like to those who read it."""

import pytest
from grammar import check_prv
from synthetic import WORLD, call, write_run

import analyzer
from analyzer.cli import main


@pytest.fixture
def run(tmp_path):
    """Rank 0 makes nine calls that take no time in a replay before it sends; rank 1 has waited for long."""
    between = [call("MPI_Group_translate_ranks", 100 + 2 * i, 101 + 2 * i) for i in range(9)]
    send = call("MPI_Send", 120, 121, comm=WORLD, peer=1, tag=3, sent=8)
    receive = call("MPI_Recv", 20, 300, comm=WORLD, peer=0, tag=3, received=8)
    ends = call("MPI_Init", 0, 10), call("MPI_Finalize", 400, 410)
    return write_run(tmp_path, [{"calls": [ends[0], *rows, ends[1]]} for rows in ([*between, send], [receive])])


def test_nothing_is_received_before_it_was_sent(run, tmp_path):
    """Calls that take no time last a nanosecond each in a trace: those before a send begin earlier, if they can."""
    for name in ("p.h5", "p.prv"):
        assert main(["replay", str(run), "-o", str(tmp_path / name), "-q"]) == 0
    (message,) = analyzer.open(tmp_path / "p.h5").messages()
    assert message["logical_send"] <= message["physical_receive"]
    assert not check_prv(tmp_path / "p.prv")


def test_no_number_of_a_wide_table_is_cut(run, capsys):
    assert main(["what-if", str(run), "--machine", "ideal"]) == 0
    out = capsys.readouterr().out
    assert "…" not in out and out.count("MPI_Group_translate_ranks ...") == 2
    assert max(map(len, out.splitlines())) <= 80
