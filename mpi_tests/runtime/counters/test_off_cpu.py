"""Without a CPU a rank sleeps or waits for one: against what the program itself asks the kernel."""

import json
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest

from analyzer.efficiency.cpu_use import cpu_use
from analyzer.opening import open_trace
from analyzer.parallel import Team

STEPS, MS = 10, 30


@contextmanager
def busy(processes: int):
    """Run processes that always want a CPU."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def truth(folder, rank):
    wall, cpu, delay = map(int, (folder / f"off_cpu-{rank}").read_text().split())
    assert delay >= 0, "this kernel does not count run delays: the test shows nothing"
    return wall, cpu, delay


@pytest.mark.parametrize("way", ["timer", "pipe", "child", "lock", "work"])
@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_as_the_kernel_says(request, compiled, traced, way, mpi_name):
    """At any load: of the time outside MPI since MPI_Init, what the kernel counted of each kind, to 20 ms."""
    leg = request.getfixturevalue(mpi_name)
    result = traced(leg, compiled(leg, "off_cpu.c"), way, str(STEPS), str(MS), ranks=2)
    with closing(open_trace(str(result.run))) as trace:
        use = cpu_use(trace, Team())
    assert use.tells_sleep
    for rank in range(2):
        wall, cpu, delay = truth(result.folder, rank)
        starting_ns = int(use.computing_ns[rank]) - wall  # before MPI_Init the program did not ask
        assert starting_ns > -1_000_000
        room = starting_ns + 20_000_000
        assert delay - 20_000_000 <= use.computing_waits_ns[rank] <= delay + room
        assert wall - cpu - delay - 20_000_000 <= use.computing_asleep_ns[rank] <= wall - cpu - delay + room


def test_the_first_finding_is_sleep_and_where(openmpi, compiled, traced, analyze):
    """Four ranks on two CPUs sleep: they share them, and wait for none."""
    result = traced(openmpi, compiled(openmpi, "off_cpu.c", "-g"), "timer", str(STEPS), "60", ranks=4)
    data = json.loads(analyze("look", "--no-files", "--json", result.run).check().stdout)
    asleep = [one for one in data["findings"] if one["kind"] == "sleep outside MPI"]
    assert asleep and asleep[0]["cost_s"] >= 0.9 * STEPS * 0.06 and asleep[0]["sure"] == "measured"
    delay_s = sum(truth(result.folder, rank)[2] for rank in range(4)) / 1e9
    before_s = data["useful_s"]["total"] - sum(truth(result.folder, rank)[0] for rank in range(4)) / 1e9
    assert data["computing_waiting_for_cpu_s"] <= delay_s + before_s + 0.08  # not all that is without a CPU
    said = " ".join(analyze("look", "--no-files", result.run).check().stdout.split())
    assert "sleep outside MPI (files, children, timers, locks), most computing" in said
    assert "before MPI_Barrier at off_cpu.c:" in said


def test_who_competes_waits_for_cpus(openmpi, compiled, traced, analyze):
    """The same ranks compute while others want the CPUs, too."""
    with busy(4):
        result = traced(openmpi, compiled(openmpi, "off_cpu.c"), "work", str(STEPS), str(MS), ranks=4)
    data = json.loads(analyze("look", "--no-files", "--json", result.run).check().stdout)
    kinds = [one["kind"] for one in data["findings"]]
    assert kinds[0] == "shared CPUs" and data["findings"][0]["sure"] == "measured"
    assert data["computing_waiting_for_cpu_s"] > 5 * data["computing_asleep_s"]


def test_short_sleeps_are_in_no_place(openmpi, compiled, traced):
    """Sleeps of 100 us between calls are added up as one computation, which is long."""
    result = traced(openmpi, compiled(openmpi, "off_cpu.c"), "short", str(STEPS), "5", ranks=2)
    with closing(open_trace(str(result.run))) as trace:
        use = cpu_use(trace, Team())
    for rank in range(2):
        wall, cpu, delay = truth(result.folder, rank)
        assert use.computing_asleep_ns[rank] >= wall - cpu - delay - 20_000_000


@pytest.mark.parametrize(("threads", "cpus", "crowded"), [(3, 1, True), (1, 1, False)])
@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_threads_on_too_few_cpus(request, compiled, traced, analyze, mpi_name, threads, cpus, crowded):
    """Threads that want a CPU count; a thread that waits for a lock does not."""
    leg = request.getfixturevalue(mpi_name)
    result = traced(leg, compiled(leg, "crowded.c", "-lpthread"), str(threads), str(cpus), "300", ranks=1)
    data = json.loads(analyze("look", "--no-files", "--json", result.run).check().stdout)
    found = [(one["rank"], one["threads"], one["cpus"]) for one in data["threads_sharing_cpus"]]
    assert found == ([(0, threads, cpus)] if crowded else [])
    said = " ".join(analyze("look", "--no-files", result.run).check().stdout.split())
    assert (f"{threads} busy threads share 1 CPU on rank 0; bind each rank to {threads} CPUs" in said) == crowded
