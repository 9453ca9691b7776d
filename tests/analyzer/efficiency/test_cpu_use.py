"""How long ranks had a CPU: by hand, and beside the bursts of the replays by the clock and by CPU time."""

import json
from random import Random

import numpy as np
import pytest
from cpu_clock import NO, random_rank, rank
from synthetic import WORLD, call, event, write_run

from analyzer.cli import main
from analyzer.efficiency.cpu_use import CpuSharing, cpus
from analyzer.efficiency.factors import factors
from analyzer.efficiency.ideal import IdealReplay
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.program.model import pieces
from analyzer.report.words.cpus import waiting_for_cpus
from tracelib import schema


def test_by_hand(tmp_path):
    """Rank 0 computes 10 us and has a CPU for 4 of them, rank 1 for all; in the barrier of 80 us they have one for 10,
    and for 30. Before MPI_Init, and in it, nothing counts."""
    calls = [call("MPI_Init", 2_000, 10_000), call("MPI_Barrier", 20_000, 100_000)]
    path = write_run(tmp_path, [rank(calls, [NO, 0, 4_000, 14_000]), rank(calls, [NO, 0, 12_000, 42_000])])
    trace = open_trace(str(path))
    found = cpus(trace, Team())
    assert found.use.computing_ns.tolist() == [10_000, 10_000]
    assert found.use.computing_cpu_ns.tolist() == [4_000, 10_000]  # no burst computes for longer than it lasts
    assert found.use.mpi_without_ns.tolist() == [70_000, 50_000]
    assert waiting_for_cpus(found) == [
        "2 ranks share 1 CPU of node0. They have no CPU during 6.00 us (30.0 %) of the 20.0 us of computing, and "
        "during 120 us (75.0 %) of the 160 us in MPI after MPI_Init: they wait for one, or sleep. Which of both was "
        "not recorded."
    ]
    trace.close()


def test_efficiency_names_both_ideal_times(tmp_path, capsys):
    """Ranks compute 2 us before MPI_Init and 10 us from there to the barrier, which costs nothing there. Of these they
    had a CPU for 4 and for 6: 12 us by the clock, 8 us by CPU time."""
    calls = [call("MPI_Init", 2_000, 10_000), call("MPI_Barrier", 20_000, 100_000)]
    path = write_run(tmp_path, [rank(calls, [NO, 0, 4_000, 14_000]), rank(calls, [NO, 0, 6_000, 42_000])])
    assert main(["efficiency", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("Ideal")] == [
        ["Ideal", "network,", "wall-clock", "12.0", "us"],
        ["Ideal", "network,", "CPU", "time", "8.00", "us"],
    ]
    assert main(["efficiency", "--json", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["ideal_runtime_s"], found["ideal_runtime_by_cpu_time_s"]) == (12e-6, 8e-6)


def test_what_is_left_of_mpi_is_bounded(tmp_path, capsys):
    """8 us in each MPI_Init. Rank 0 is in the barrier for 80 us, 10 of them before rank 1, which is there for 70. They
    have a CPU for 10 and for 30 us of that: of the 140 us that are left at most 40 had one, and 110 had none."""
    first, last = (call("MPI_Barrier", enter, 100_000, comm=WORLD) for enter in (20_000, 30_000))
    init = call("MPI_Init", 2_000, 10_000)
    path = write_run(
        tmp_path, [rank([init, first], [NO, 0, 4_000, 14_000]), rank([init, last], [NO, 0, 12_000, 42_000])]
    )
    assert main(["waits", "--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["text"].startswith(
        "Of the 166 us in MPI, 10.0 us (6.0 %) is waiting for other ranks, 16.0 us is MPI_Init, and 140 us is the "
        "rest. In this rest MPI had a CPU for at most 40.0 us; up to 110 us of it is waiting for a CPU. Most of the "
    )


def test_of_transfer():
    """In 100 us the rank computes 20 and is in MPI without a CPU for 60; ideally, in 40 us, it waits 20 for others.

    So 40 of the 60 us that are saved are waiting for a CPU. It is never more than is saved, and never negative.
    """
    trace_like = cpus_of([60_000])
    for ideal, expected in (
        (IdealReplay(40_000, 20_000), 40_000),
        (IdealReplay(90_000, 20_000), 0),
        (IdealReplay(95_000, 95_000), 5_000),
    ):
        assert trace_like.of_transfer_ns(factors(np.array([20_000]), 100_000, ideal), 0) == expected
    assert trace_like.of_transfer_ns(factors(np.array([20_000]), 100_000), 0) is None  # nothing was replayed


def cpus_of(without):
    from analyzer.efficiency.cpu_use import CpuSharing, RankCpuUse

    none = np.zeros(len(without), np.int64)
    return CpuSharing((), RankCpuUse(none, none, np.array(without), none))


@pytest.mark.parametrize("seed", range(12))
def test_it_is_what_the_two_replays_differ_by(tmp_path, seed):
    """A rank's bursts in a replay by the clock are longer by it than in a replay by CPU time."""
    random = Random(seed)
    path = write_run(tmp_path, [random_rank(random) for _ in range(3)])
    trace = open_trace(str(path))
    found = cpus(trace, Team()).use
    sums = []
    for by_cpu in (False, True):
        program = program_of(trace, cpu_time=by_cpu, virtual=False)
        sums.append([sum(int(ops["burst"].sum()) for ops in pieces(program, k)) for k in range(3)])
    assert found.computing_waits_ns.tolist() == (np.array(sums[0]) - sums[1]).tolist()
    assert (found.computing_ns <= useful(trace, Team()).by_rank()).all()
    assert (found.mpi_cpu_ns <= found.mpi_ns).all()
    trace.close()


def test_the_rank_that_computes_longest_may_only_have_waited_for_a_cpu(tmp_path, capsys):
    """Rank 0 seems to compute 40 us, rank 1 20 us; both had a CPU for 20."""
    zero = [call("MPI_Init", 0, 10_000), call("MPI_Barrier", 50_000, 100_000)]
    one = [call("MPI_Init", 0, 10_000), call("MPI_Barrier", 30_000, 100_000)]
    path = write_run(tmp_path, [rank(zero, [NO, 0, 20_000, 30_000]), rank(one, [NO, 0, 20_000, 30_000])])
    assert main(["look", "--no-files", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "rank 0 computes 33.3 % longer than the mean (40.0 us against 30.0 us); for 20.0 us of its 40.0 us it had no "
        "CPU: it waited for one, or slept" in said
    )
    assert "a bound: it may also have slept" in said and "waits for one: up to" in said


def kernel(time, off, delay, where, thread=0):
    """Events of a thread that asked the kernel."""
    return [
        event(time, schema.OFF_CPU_TYPE, off, thread=thread, flags=int(where)),
        event(time, schema.RUN_DELAY_TYPE, delay, thread=thread, flags=int(where)),
    ]


def slept(delay=2_000):
    """10 us in MPI_Init (asleep for 5), 40 us computing (30 without a CPU), 50 us in a barrier (20 without)."""
    calls = [call("MPI_Init", 0, 10_000), call("MPI_Barrier", 50_000, 100_000)]
    inside = schema.OffCpuState.INSIDE
    return {
        "calls": calls,
        "events": [
            *kernel(0, 0, min(delay, 0), schema.OffCpuState.SHORT),
            *kernel(10_001, 5_000, min(delay, 0), inside),
            *kernel(50_000, 30_000, delay, schema.OffCpuState.OUTSIDE),
            *kernel(2_000_000, 20_000, delay, inside),
        ],
    }  # fmt: skip


def test_by_the_kernel(tmp_path):
    trace = open_trace(str(write_run(tmp_path, [slept(), {"calls": [call("MPI_Init", 0, 10_000)]}])))
    use = cpus(trace, Team()).use
    columns = (use.computing_waits_ns, use.computing_asleep_ns, use.mpi_waits_ns, use.mpi_without_ns)
    assert [column.tolist() for column in columns] == [[2_000, 0], [28_000, 0], [2_000, 0], [20_000, 0]]
    said = waiting_for_cpus(CpuSharing((), use))
    assert len(said) == 1 and said[0].startswith("Ranks are asleep during 28.0 us (")
    trace.close()


def test_a_kernel_without_run_delays(tmp_path):
    """Time without a CPU is known; what it was is not."""
    trace = open_trace(str(write_run(tmp_path, [slept(-1)] * 2)))
    use = cpus(trace, Team()).use
    assert not use.tells_sleep and use.computing_asleep_ns.tolist() == [0, 0]
    assert use.computing_waits_ns.tolist() == [30_000] * 2
    assert all("Which of both was not recorded" in line for line in waiting_for_cpus(CpuSharing((), use)))
    trace.close()


def test_cpu_times_of_ranks_with_several_threads(tmp_path):
    """The second thread makes one call, whose readings are its own."""
    calls = [call("MPI_Init", 0, 10_000), call("MPI_Comm_rank", 12_000, 13_000, thread=1),
             call("MPI_Barrier", 20_000, 100_000)]  # fmt: skip
    main, other = [0, 2], [1]
    block = np.zeros(2, schema.BLOCK)
    block["thread"], block["set"] = [0, 1], 1
    block["count"][:, 0], block["count"][:, 6] = [2, 1], [4, 2]
    block["first"][1, 0], block["first"][1, 6] = 2, 4
    one = rank([calls[k] for k in main + other], [NO, 0, 4_000, 14_000, 100, 200], blocks=block)
    trace = open_trace(str(write_run(tmp_path, [one] * 2)))
    use = cpus(trace, Team()).use
    assert use.computing_ns.tolist() == [10_000] * 2 and use.computing_cpu_ns.tolist() == [4_000] * 2
    trace.close()


@pytest.mark.parametrize("read", [True, False])
def test_studies_say_what_bursts_last(tmp_path, capsys, read):
    """By CPU time where that was read, else by the clock: beside each run, and in JSON."""
    calls = [call("MPI_Init", 0, 10_000), call("MPI_Barrier", 20_000, 100_000), call("MPI_Finalize", 110_000, 120_000)]
    one = rank(calls, [NO, 0, 4_000, 14_000, 16_000, 17_000]) if read else {"calls": calls}
    path = str(write_run(tmp_path, [one] * 2))
    options = ["--vary", "latency=1us..2us", "-n", "2", "--jobs", "1"]
    said, name = ("CPU time", "CPU time") if read else ("wall-clock time", "clock")
    assert main(["monte-carlo", path, *options]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(f"run.h5 replayed on 2 machines with bursts in {said}; the run took ")
    assert main(["monte-carlo", path, *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["replayed_by"] == name
    assert main(["fit-machine", path, *options]) == 0
    header, row = capsys.readouterr().out.splitlines()[:2]
    assert "replayed by" in header and f" {name} " in row
    assert main(["fit-machine", path, *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["replayed_by"] == name


def test_json(tmp_path, capsys):
    calls = [call("MPI_Init", 0, 10_000), call("MPI_Barrier", 20_000, 100_000)]
    path = str(write_run(tmp_path, [rank(calls, [NO, 0, 4_000, 14_000])] * 2))
    for command in ("info", "efficiency", "waits", "critical-path"):
        assert main([command, path, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        names = ("computing_waiting_for_cpu_s", "mpi_without_cpu_s", "mpi_with_cpu_s")
        assert [found[name] for name in names] == pytest.approx([12e-6, 140e-6, 20e-6]), command


def test_one_that_was_not_recorded_is_not_made_up(tmp_path):
    path = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 20, 100)], "cpus": "0-3"}] * 2)
    trace = open_trace(str(path))
    found = cpus(trace, Team())
    assert found.use is None and waiting_for_cpus(found) == []
    trace.close()
