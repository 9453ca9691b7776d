"""`mpirun -n N analyze fit-machine` and `monte-carlo`: the same answer, and less work for whoever is slow."""

import json
import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from analyzer.cli import main

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


def test_a_worker_that_stands_still_gets_fewer_jobs(openmpi, run_of, analyze, alone, tmp_path):
    """One of two is stopped after its first jobs: the other does all but the one that it holds, which is done when it
    goes on; the answer is that of one process."""
    run, jobs = run_of(openmpi, "1000"), 200
    words = ("monte-carlo", run, *DRAWN, "-n", str(jobs))
    journal = tmp_path / "team.samples.jsonl"
    with ThreadPoolExecutor(1) as pool:
        team = pool.submit(analyze, *words, "-o", "team", under=openmpi, ranks=3)
        while len(by_worker(journal)) < 2:
            assert not team.done(), team.result()
            time.sleep(0.002)
        slow = by_worker(journal).most_common()[-1][0]
        os.kill(slow, signal.SIGSTOP)
        try:
            while by_worker(journal).total() < jobs - 1 and not team.done():
                time.sleep(0.01)
            before = by_worker(journal)[slow]
        finally:
            os.kill(slow, signal.SIGCONT)
        found = json.loads(team.result().check().stdout)
    done = by_worker(journal)
    assert done.total() == jobs and len(done) == 2
    assert done[slow] <= before + 1 < jobs / 2 < done.total() - done[slow]
    assert found | {"written": []} == alone(*words)
