"""Drawing machines: distributions against scipy's, designs by their properties, who does the jobs, `monte-carlo`."""

import json
import math
import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import patient
from planted import exchange
from scipy import stats

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.machine.parameters import vary
from analyzer.montecarlo.distribution import DESIGNS, points, varied
from analyzer.montecarlo.replay_jobs import ReplayJob, ReplayOutcome, WorkerInput
from analyzer.montecarlo.results_file import JobJournal
from analyzer.montecarlo.spread import is_stable, looks, replayed_until
from analyzer.montecarlo.workers import workers
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations

SCIPY = {
    "latency=1us..5us": stats.uniform(1e-6, 4e-6),
    "latency=log:1..100us": stats.loguniform(1e-6, 1e-4),
    "speed=gaussian:1,0.1": stats.norm(1, 0.1),
    "latency=exponential:1us,3us": stats.expon(1e-6, 3e-6),
    "buses=1..6": stats.randint(1, 7),
}


@pytest.mark.parametrize("text", SCIPY)
@given(u=st.floats(0.001, 0.999))
@settings(max_examples=50)
def test_distributions(text, u):
    of = varied(text)
    if of.whole:
        assert SCIPY[text].cdf(of.at(u) - 1) <= u + 1e-12 and u <= SCIPY[text].cdf(of.at(u)) + 1e-12
    else:
        assert of.at(u) == pytest.approx(SCIPY[text].ppf(u), rel=1e-9)
        assert of.share(of.at(u)) == pytest.approx(u, abs=1e-6)
    assert of.at(of.share(of.at(u))) == pytest.approx(of.at(u), rel=1e-6)


def test_what_makes_no_sense_is_not_drawn():
    """Gaussians end at the least value that a parameter has."""
    assert varied("latency=gaussian:1us,10us").at(0.01) == 0
    assert varied("speed=gaussian:1,10").at(0.01) > 0
    assert varied("latency=gaussian:1us,10us").at(0.0) == 0
    whole = varied("buses=log:1..8")
    assert {whole.at(u) for u in np.linspace(0, 0.9999, 999)} == set(range(1, 9))


@given(count=st.integers(1, 70), dimensions=st.integers(1, 4), seed=st.integers(0, 2**64 - 1))
@settings(max_examples=25)
def test_designs(count, dimensions, seed):
    for design in DESIGNS:
        found = points(design, count, dimensions, seed)
        assert found.shape == (count, dimensions) and (found >= 0).all() and (found < 1).all()
        assert np.array_equal(found, points(design, count, dimensions, seed))
    parts = np.sort(np.floor(points("latin", count, dimensions, seed) * count), axis=0)
    assert np.array_equal(parts, np.repeat(np.arange(count)[:, None], dimensions, axis=1))
    for design in ("random", "sobol"):
        assert np.array_equal(points(design, count, dimensions, seed), points(design, 100, dimensions, seed)[:count])


def ping(size=1000):
    there = {"kind": OperationKind.SEND, "peer": 1, "bytes": size, "flags": OperationFlag.IMMEDIATE}
    return Program.from_streams([operations(there), operations({"kind": OperationKind.RECV, "peer": 0, "bytes": size})])


def latency_study(*programs):
    return WorkerInput(programs, Machine(dialect="thesis"), lambda machine, new: vary(machine, {"latency": new[0]}))


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_job_is_done_once_and_in_order(jobs):
    """A message takes its latency: the answer is known; equal jobs are one."""
    asked = [ReplayJob((k * 1e-6,), 0) for k in (5, 1, 5, 3)]
    with workers(latency_study(ping(), ping()), JobJournal(None, {}), Team(), jobs) as staff:
        assert [outcome.times_ns for outcome in staff.do_all(asked)] == [(k * 1000,) * 2 for k in (5, 1, 5, 3)]


def test_a_worker_takes_the_next_job_when_it_has_ended_one(monkeypatch):
    """The worker that meets the slow job does only that job; the other one does the rest."""
    done: dict[int, list[float]] = {}
    rest = threading.Semaphore(0)

    def do(self, job):
        done.setdefault(threading.get_ident(), []).append(job.values[0])
        if job.values[0] == 0:
            assert all(rest.acquire(timeout=patient(10)) for _ in range(20))
        rest.release()
        return ReplayOutcome((1,))

    monkeypatch.setattr(WorkerInput, "do", do)
    with workers(latency_study(ping()), JobJournal(None, {}), Team(), 2) as staff:
        staff.do_all([ReplayJob((float(k),), 0) for k in range(21)])
    assert sorted(map(len, done.values())) == [1, 20]


def test_what_is_done_is_kept_at_once_and_little_is_lost(tmp_path, monkeypatch):
    """A study of 100 000 machines is ended in its 40th: the ones before are in the file, and nobody does the rest."""
    tried = []

    def do(self, job):
        tried.append(job)
        if len(tried) == 40:
            raise KeyboardInterrupt
        return ReplayOutcome((1,))

    monkeypatch.setattr(WorkerInput, "do", do)
    journal = JobJournal(tmp_path / "j", {"seed": 1})
    with pytest.raises(KeyboardInterrupt), workers(latency_study(ping()), journal, Team(), 1) as staff:
        staff.do_all([ReplayJob((float(k),), 0) for k in range(100_000)])
    journal.close()
    assert 40 <= len(tried) < 100
    assert len((tmp_path / "j").read_bytes().splitlines()) >= 1 + 40 - 8


def test_a_machine_that_cannot_replay_is_an_outcome(tmp_path):
    """Two that send to each other first wait for ever where sends are rendezvous; the reason is kept."""
    rows = [
        ({"kind": OperationKind.SEND, "peer": 1 - r, "bytes": 9}, {"kind": OperationKind.RECV, "peer": 1 - r})
        for r in (0, 1)
    ]
    program = Program.from_streams([operations(*row) for row in rows])
    study = WorkerInput([program], Machine(), lambda machine, new: vary(machine, {"eager": new[0]}))
    for _ in range(2):
        journal = JobJournal(tmp_path / "j", {"seed": 1})
        with workers(study, journal, Team(), 1) as staff:
            late, eager = staff.do_all([ReplayJob((5.0,), 0), ReplayJob((50.0,), 0)])
        journal.close()
        assert late.times_ns is None and "cannot go on" in late.error
        assert eager.times_ns == (0,)
    assert len((tmp_path / "j").read_bytes().splitlines()) == 3


def test_a_journal_has_one_writer(tmp_path):
    first = JobJournal(tmp_path / "j", {"seed": 1})
    with pytest.raises(TracelibError, match="another process"):
        JobJournal(tmp_path / "j", {"seed": 1})
    first.close()
    JobJournal(tmp_path / "j", {"seed": 1}).close()


@given(data=st.data())
@settings(max_examples=40)
def test_a_journal_cut_anywhere_knows_its_whole_lines(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("cut") / "j"
    journal = JobJournal(path, {"seed": 1})
    for k in range(4):
        journal.add(ReplayJob((k / 3, 1e-6), k), ReplayOutcome((k, k)))
    journal.close()
    content = path.read_bytes()
    at = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:at])
    again = JobJournal(path, {"seed": 1})
    assert len(again) == max(content[:at].count(b"\n") - 1, 0)
    for k in range(4):
        if again.get(ReplayJob((k / 3, 1e-6), k)) is None:
            again.add(ReplayJob((k / 3, 1e-6), k), ReplayOutcome((k, k)))
    again.close()
    assert path.read_bytes() == content


def test_a_damaged_line_is_named(tmp_path):
    journal = JobJournal(tmp_path / "j", {"seed": 1})
    journal.add(ReplayJob((1.0,), 2), ReplayOutcome((3,)))
    journal.close()
    with (tmp_path / "j").open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(TracelibError, match="j:3: not a sample"):
        JobJournal(tmp_path / "j", {"seed": 1})


def spread_of(capsys, *arguments):
    assert main(["monte-carlo", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_time_over_a_random_latency(tmp_path, capsys):
    """The time of a chain of messages is a line over the latency: moments and quantiles follow from the latency's."""
    run = exchange(tmp_path, "run", 30, 8)
    ends = []
    for latency in (0, 10):
        found = spread_of(capsys, run, "--machine", "ideal", "--latency", f"{latency}us", "--vary", "speed=1..1.000001")
        ends.append(found["runs"][0]["mean_s"])
    slope = (ends[1] - ends[0]) / 10
    machine = ("--machine", "ideal")
    found = spread_of(capsys, run, *machine, "--vary", "latency=4us..8us", "--vary", "intra_latency=0..9us",
                      "-n", 400, "--design", "latin")  # fmt: skip
    of = found["runs"][0]
    assert of["mean_s"] == pytest.approx(ends[0] + 6 * slope, rel=1e-3)
    assert of["deviation_s"] == pytest.approx(slope * 4 / math.sqrt(12), rel=0.02)
    for share, value in of["quantiles_s"].items():
        assert value == pytest.approx(ends[0] + slope * (4 + 4 * float(share)), rel=1e-2)
    assert of["correlation"]["latency"] == pytest.approx(1, abs=1e-6)
    assert abs(of["correlation"]["intra_latency"]) < 0.15
    assert of["mean_within_s"] == pytest.approx(1.966 * of["deviation_s"] / 20, rel=1e-3)
    assert spread_of(capsys, run, *machine, "--vary", "latency=4us..8us", "--jobs", 1) == spread_of(
        capsys, run, *machine, "--vary", "latency=4us..8us", "--jobs", 2
    )


def test_a_study_ends_when_the_mean_is_known():
    """Latencies from 1 to 3 us have mean 2 us, deviation 2 / sqrt(12) us.

    To know the mean to 5 % takes (1.96 * 0.577 / 0.1)^2 = 128 machines. Over many seeds nearly all intervals hold it,
    and no study ends much earlier.
    """
    of, counts, hits = varied("latency=1us..3us"), [], 0
    for seed in range(40):
        cube = points("random", 1000, 1, seed)
        with workers(latency_study(ping()), JobJournal(None, {}), Team(), 1) as staff:
            samples = replayed_until(staff, [of], cube, [0] * 1000, 0.05)
        times = samples.times_ns[:, 0]
        half = stats.t.ppf(0.975, len(times) - 1) * stats.sem(times)
        assert half <= 0.05 * times.mean()
        before = times[: max(n for n in looks(1000) if n < len(times))]
        assert stats.t.ppf(0.975, len(before) - 1) * stats.sem(before) > 0.05 * before.mean()
        counts.append(len(times))
        hits += abs(times.mean() - 2000) <= half
    assert 115 < np.mean(counts) < 150 and min(counts) > 80
    assert hits >= 34  # where 94 of 100 do, fewer in 1 of 100 cases


def test_what_is_always_the_same_is_known_at_once():
    with workers(latency_study(ping()), JobJournal(None, {}), Team(), 1) as staff:
        found = [
            replayed_until(staff, [varied("latency=1us..1.0001us")], points("random", n, 1, 0), [0] * n, 0.01)
            for n in (1, 7, 1000)
        ]
    assert [len(samples.values) for samples in found] == [1, 7, 30]
    assert [is_stable(samples, 0.01) for samples in found] == [False, True, True]


def test_a_study_goes_on_to_a_better_known_mean(tmp_path, capsys):
    """With what was known before it ends where one from the start does, and no machine is replayed twice."""
    run, out = exchange(tmp_path, "run", 3, 3), tmp_path / "out"
    drawn = (run, "--machine", "ideal", "--vary", "latency=1us..99us")
    spread_of(capsys, *drawn, "--until", "20%", "-o", out)
    fine = spread_of(capsys, *drawn, "--until", "5%", "-o", out)
    assert fine | {"written": []} == spread_of(capsys, *drawn, "--until", "5%") and fine["stable"]
    assert len((tmp_path / "out.samples.jsonl").read_bytes().splitlines()) == 1 + fine["samples"] > 60
    short = spread_of(capsys, *drawn, "--until", "5%", "-n", 40)
    assert (short["samples"], short["stable"], short["until"]) == (40, False, 0.05)
    for words, says in ((("--until", "none"), "--until none"), (("--until", "1", "--design", "latin"), "Latin")):
        assert main(["monte-carlo", *map(str, drawn), *words]) == 1
        assert says in capsys.readouterr().err


def test_what_is_random_in_the_machine_is_drawn_anew(tmp_path, capsys):
    run = exchange(tmp_path, "run", 30, 8)
    (tmp_path / "m.toml").write_text("[node]\nlatency_us = { uniform = [1, 9] }\n")
    of = spread_of(capsys, run, "--machine", tmp_path / "m.toml", "-n", 50, "-o", tmp_path / "out")["runs"][0]
    assert of["least_s"] < of["mean_s"] < of["most_s"]
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert len((tmp_path / "out.samples.jsonl").read_bytes().splitlines()) == 51
    assert main(["monte-carlo", str(run), "--machine", "ideal"]) == 1
    assert "nothing is random" in capsys.readouterr().err


def test_an_interrupted_study_says_how_to_go_on(tmp_path, capfd, monkeypatch):
    """Jobs that were done before Ctrl-C are not done again."""
    run, out, do, tried = exchange(tmp_path, "run", 3, 3), tmp_path / "out", WorkerInput.do, []

    def interrupted(self, job):
        tried.append(job)
        if len(tried) == 20:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return do(self, job)

    monkeypatch.setattr(WorkerInput, "do", interrupted)
    drawn = ["monte-carlo", str(run), "--machine", "ideal", "--vary", "latency=1us..9us", "-n", "60", "--jobs", "1"]
    assert main([*drawn, "-o", str(out)]) == 130
    done = len((tmp_path / "out.samples.jsonl").read_bytes().splitlines()) - 1
    said = f"Ended after {done} replays (the same command goes on from {out}.samples.jsonl)\ninterrupted\n"
    assert capfd.readouterr().err == said
    assert 12 <= done <= 30
    again = len(tried)
    spread_of(capfd, *drawn[1:], "-o", out)
    assert len(tried) - again == 60 - done


def test_the_report(tmp_path, capsys):
    run = exchange(tmp_path, "run", 30, 8)
    options = ("--machine", "ideal", "--vary", "latency=1us..50us", "--vary", "bandwidth=1GB/s..2GB/s")
    assert main(["monte-carlo", str(run), *options, "-o", str(tmp_path / "x")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "latency decides the time. bandwidth hardly matters." in out
