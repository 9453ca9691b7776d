"""Damaged runs whose calls overlap."""

from uneven_runs import NS, iterative, written

from analyzer.cli import main


def test_calls_that_overlap_stop_nothing(tmp_path, capsys):
    """The last reduction is entered while MPI_Finalize runs, 1 us after it was entered."""
    damaged = iterative(20, 2, lambda iteration, rank: 1000 + iteration + rank, rings=False)
    for rank, calls in enumerate(damaged.calls):
        calls.append(dict(calls[-2], enter=damaged.now[rank] + NS, exit=damaged.now[rank] + 2 * NS))
        calls[-2]["exit"] = damaged.now[rank] + 2 * NS
    assert main(["structure", str(written(tmp_path, damaged))]) == 0
    assert "iterations" in capsys.readouterr().out
