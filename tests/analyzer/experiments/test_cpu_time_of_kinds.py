"""The CPU time of bursts in a table by kinds: by hand, and beside the sums over each rank."""

from random import Random

import numpy as np
import pandas
import pytest
from cpu_clock import NO, random_rank, rank
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.efficiency.cpu_use import cpu_use
from analyzer.experiments.growth import growth
from analyzer.experiments.kinds import by_call, by_region
from analyzer.opening import open_trace
from analyzer.parallel import Team


def test_by_hand(tmp_path):
    """Both ranks compute 2 us before MPI_Init, of which nothing is known, and 10 us before the barrier. Rank 0 has a
    CPU for 4 of these. Rank 1 for 12: as long as the burst lasts counts."""
    calls = [call("MPI_Init", 2_000, 10_000), call("MPI_Barrier", 20_000, 100_000)]
    path = write_run(tmp_path, [rank(calls, [NO, 0, 4_000, 14_000]), rank(calls, [NO, 0, 12_000, 42_000])])
    trace = open_trace(str(path))
    bursts = by_call(trace, Team()).query("kind == 'burst'").set_index("name")
    assert bursts["time"].to_dict() == pytest.approx({"MPI_Init": 2e-6, "MPI_Barrier": 10e-6})
    assert bursts["cpu_time"].to_dict() == pytest.approx({"MPI_Init": 0, "MPI_Barrier": 7e-6})
    assert by_call(trace, Team()).query("kind == 'call'")["cpu_time"].isna().all()
    assert by_region(trace, Team())["cpu_time"].isna().all()
    trace.close()
    target = tmp_path / "table.csv"
    assert main(["table", str(path), "--by", "call", "--where", "kind == 'burst'", "-o", str(target), "-q"]) == 0
    assert target.read_text().splitlines()[1].startswith("burst,MPI_Barrier,")
    assert ",7e-06" in target.read_text()


def test_without_a_cpu_clock_nothing_is_known(tmp_path):
    path = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 10), call("MPI_Barrier", 20, 30)]}])
    trace = open_trace(str(path))
    assert by_call(trace, Team())["cpu_time"].isna().all()
    trace.close()


@pytest.mark.parametrize("seed", range(8))
def test_all_bursts_together_are_what_the_ranks_had(tmp_path, seed):
    """Polls between two calls, flushes, windows: as `cpu_use` adds them up."""
    random = Random(seed)
    path = write_run(tmp_path, [random_rank(random) for _ in range(3)])
    trace = open_trace(str(path))
    bursts = by_call(trace, Team()).query("kind == 'burst'")
    had = float(cpu_use(trace, Team()).computing_cpu_ns.sum())
    assert np.sum(bursts["cpu_time"] * bursts["in_ranks"]) * 1e9 == pytest.approx(had)
    trace.close()


@pytest.mark.parametrize(("had", "said"), [(0.95, []), (0.25, ["In 2 of 4 runs the ranks waited for a CPU"])])
def test_runs_whose_ranks_waited_for_a_cpu_are_named(had, said):
    """In the runs of 4 and 8 ranks a rank has a CPU for `had` of its second, in the others nothing is known of it."""
    rows = [
        {"kind": "burst", "name": name, "run": f"r{p}", "ranks": p, "in_ranks": p, "time": 1.0,
         "cpu_time": np.nan if p < 4 else 0.0 if name == "MPI_Init" else had}
        for p in (1, 2, 4, 8) for name in ("MPI_Init", "MPI_Barrier")
    ]  # fmt: skip
    notes = growth(pandas.DataFrame(rows), ["ranks"]).notes
    assert [note.partition(":")[0] for note in notes] == said
    assert all("25 %" in note for note in notes)
