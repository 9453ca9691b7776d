"""`mpirun -n N analyze fit-machine` and `monte-carlo`: the same answer, and less work for whoever is slow."""

import json
import os
import shutil
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import source_of

from analyzer.cli import main

pytestmark = pytest.mark.timed

DRAWN = ("--machine", "ideal", "--vary", "latency=log:1us..100us", "--vary", "bandwidth=log:10MB/s..1GB/s", "--json")


@pytest.fixture
def run_of(compiled, traced):
    """run_of(leg, rounds): a traced run of short messages."""
    return lambda leg, rounds: traced(leg, compiled(leg, "steady.c"), rounds).run


def by_worker(journal):
    """Jobs by process id."""
    lines = journal.read_bytes().split(b"\n")[1:-1] if journal.exists() else []
    return Counter(int(json.loads(line)["by"].split(":")[-1]) for line in lines)


@pytest.fixture
def alone(capsys):
    """alone(*words): the JSON that a single process prints."""

    def answer(*words):
        assert main([*map(str, words)]) == 0
        return json.loads(capsys.readouterr().out)

    return answer


def test_a_study_of_a_team_is_that_of_one(mpich, run_of, analyze, alone):
    """A fit, and machines until the mean is known: both end at the same machine."""
    run = run_of(mpich, "100")
    for command, options in (("fit-machine", ("-n", "20")), ("monte-carlo", ("--until", "10%"))):
        words = (command, run, *DRAWN, *options)
        team = json.loads(analyze(*words, under=mpich, ranks=2).check().stdout)
        assert team == alone(*words)
    assert team["stable"] and team["samples"] >= 30


def other_workers(journal):
    """Return the workers other than the first process, which keeps the journal."""
    return [pid for pid in by_worker(journal) if b"OMPI_COMM_WORLD_RANK=0\0" not in environment_of(pid)]


def environment_of(pid):
    return Path(f"/proc/{pid}/environ").read_bytes()


def hosts_of(journal):
    return {json.loads(line)["by"].split(":")[0] for line in journal.read_bytes().splitlines()[1:]}


def test_two_nodes_share_the_traces_alone(openmpi, analyze, alone, tmp_path, root_only):
    """A worker on another node, whose temporary folder is its own, does its jobs; where it reads another run than the
    first node, one line names it."""
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    shared, other, temporary = (tmp_path / name for name in ("shared", "other", "temporary"))
    for folder in (shared, other, temporary):
        folder.mkdir()
        alone("ring", "--tasks", 2, "--iterations", 9 + len(folder.name), "-o", folder / "ring.dim", "--json")
    words = ("monte-carlo", shared / "ring.dim", *DRAWN, "-n", "8")

    def on_two_nodes(*folders, options=()):
        through = ("env", f"TMPDIR={temporary}", source_of("own_folders"), "2", "-", temporary, *folders, "--")
        return analyze(*words, *options, under=openmpi, ranks=2, through=through)

    found = on_two_nodes(options=("-o", "team")).check()
    assert json.loads(found.stdout) | {"written": []} == alone(*words)
    assert hosts_of(tmp_path / "team.samples.jsonl") == {"node0", "node1"}
    refused = on_two_nodes(other, shared)
    assert refused.returncode and not refused.timed_out
    lines = [line for line in refused.stderr.splitlines() if line.startswith("Error")]
    assert len(lines) == 1 and "is not the run that process 0 reads" in lines[0] and "process 1 of 2, node1" in lines[0]


def test_the_death_of_a_worker_ends_the_study_and_it_goes_on(openmpi, run_of, analyze, alone, tmp_path):
    """Nobody waits for ever for what it was doing; all that was done before counts."""
    words = ("monte-carlo", run_of(openmpi, "100"), *DRAWN, "-o", tmp_path / "team", "-n")
    journal = tmp_path / "team.samples.jsonl"
    with ThreadPoolExecutor(1) as pool:
        team = pool.submit(analyze, *words, "3000", under=openmpi, ranks=3)
        while by_worker(journal).total() < 9 or not other_workers(journal):
            assert not team.done(), team.result()
            time.sleep(0.02)
        os.kill(other_workers(journal)[0], signal.SIGABRT)
        ended = team.result()
    assert ended.returncode and not ended.timed_out
    said = [line for line in ended.stderr.splitlines() if line.startswith("Error")]
    assert len(said) == 1 and f"goes on from {journal}" in said[0]
    done = by_worker(journal).total()
    found = alone(*words, str(done + 5))
    assert found["samples"] == done + 5
    again = by_worker(journal)[os.getpid()] - 5  # jobs that were handed out and not done, before others that were
    assert 0 <= again < max(9, done // 2)


def test_a_worker_that_stands_still_gets_fewer_jobs(openmpi, run_of, analyze, alone, tmp_path):
    """Stop one of three workers after its first jobs.

    The others do all jobs but the one that it holds, which is done when it goes on. The answer is one process's.
    """
    run, jobs = run_of(openmpi, "1000"), 200
    words = ("monte-carlo", run, *DRAWN, "-n", str(jobs))
    journal = tmp_path / "team.samples.jsonl"
    with ThreadPoolExecutor(1) as pool:
        team = pool.submit(analyze, *words, "-o", "team", under=openmpi, ranks=3)
        while len(by_worker(journal)) < 3:
            assert not team.done(), team.result()
            time.sleep(0.002)
        slow = other_workers(journal)[-1]
        os.kill(slow, signal.SIGSTOP)
        try:
            while by_worker(journal).total() < jobs - 1 and not team.done():
                time.sleep(0.01)
            before = by_worker(journal)[slow]
        finally:
            os.kill(slow, signal.SIGCONT)
        found = json.loads(team.result().check().stdout)
    done = by_worker(journal)
    assert done.total() == jobs and len(done) == 3
    assert done[slow] <= before + 1 < jobs / 2 < done.total() - done[slow]
    assert found | {"written": []} == alone(*words)
