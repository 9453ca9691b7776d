"""Shares in running programs: C as Python, plans, the monitor, and the examples that use them."""

import json
import os
import re
import subprocess

import pytest
from conftest import source_of
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix import ROOT
from patience import patient

from tracelib.balance import moves, read_plan, split
from tracelib.launchers import INCLUDE

pytestmark = pytest.mark.long

EXAMPLES = ROOT / "examples" / "balance"
HEADERS = ("-I", str(INCLUDE), "-I", str(EXAMPLES), "-O2")
SPEED = st.floats(0.01, 100)
CASE = st.integers(1, 6).flatmap(
    lambda n: st.tuples(st.integers(0, 10**6), *(st.lists(SPEED, min_size=n, max_size=n) for _ in range(2)))
)


@pytest.fixture(scope="module")
def splits(legs, compiled):
    """splits(text, *arguments): what splits.c prints."""
    leg = legs["apt-openmpi"]
    if leg.missing:
        pytest.skip(leg.missing)
    program = compiled(leg, source_of("splits.c"), *HEADERS)

    def run(text, *arguments):
        words = [str(program), *map(str, arguments)]
        return subprocess.run(words, input=text, capture_output=True, text=True, timeout=patient(60), check=True).stdout

    return run


@given(st.lists(CASE, min_size=20, max_size=60))
@settings(max_examples=8)
def test_c_and_python_share_alike(splits, cases):
    """The same shares, and the same moves when they change; what is sent is what is received."""
    lines = [" ".join(map(repr, (len(speeds), items, *speeds, *later))) for items, speeds, later in cases]
    for (items, speeds, later), line in zip(cases, splits("\n".join(lines)).splitlines(), strict=True):
        before, after, numbers = split(items, speeds), split(items, later), list(map(int, line.split()))
        ranks = len(speeds)
        assert numbers[:ranks] == before
        sent = [moves(before, after, rank) for rank in range(ranks)]
        assert numbers[ranks:] == [n for one in sent for pair in zip(*one, strict=True) for n in pair]
        assert all(sent[a][0][b] == sent[b][1][a] for a in range(ranks) for b in range(ranks))
        assert [sum(one[0]) for one in sent] == before and [sum(one[1]) for one in sent] == after


def test_wrong_speeds(splits):
    assert splits("2 10 1 0 1 1\n2 10 1 -1 1 1\n2 10 1 nan 1 1\n").split() == ["wrong"] * 3


PLAN = (
    "# mine\ntracelib-plan 1\nranks 3\nspeeds 100 1 2 3.3\n\nspeeds 250 1 4 3\nspeeds 300 2 4 9\nexpect 100 1 1 1 2\n"
    "times 100 1 0.5 0.75\n"
)


def test_c_and_python_read_plans_alike(splits, tmp_path):
    (tmp_path / "a.plan").write_text(PLAN)
    plan, sizes = read_plan(PLAN), [1, 100, 101, 200.5, 250, 299, 300, 1e6]
    found = splits(" ".join(map(str, sizes)), tmp_path / "a.plan", 3).splitlines()
    assert [list(map(float, line.split())) for line in found] == [plan.speeds_at(size) for size in sizes]


@pytest.mark.parametrize(
    "text, line",
    [
        ("nothing\n", 1),
        ("tracelib-plan 1\nranks 2\n", 2),
        (PLAN.replace("3.3", "x"), 4),
        (PLAN.replace("3.3", "0"), 4),
        (PLAN.replace("250", "90"), 6),
        (PLAN.replace("300 2 4 9", "300 2 4"), 7),
        (PLAN + "more 1\n", 10),
        (PLAN + "times 250 1 1\n", 10),
        (PLAN + "times 250 1 -1 1\n", 10),
        ("tracelib-plan 1\nranks 3\n", 3),
    ],
)
def test_bad_plans_are_named(splits, tmp_path, text, line):
    (tmp_path / "a.plan").write_text(text)
    assert splits("100", tmp_path / "a.plan", 3) == f"line {line}\n"


def built(leg, name, tmp_path, compiled):
    """An example as it is started, in its language."""
    if name.endswith(".py"):
        return [leg.python, str(EXAMPLES / name)]
    if name.endswith(".c"):
        return [compiled(leg, EXAMPLES / name, *HEADERS)]
    for source in ("tracelib_balance.c",):
        subprocess.run(
            [leg.compilers[".c"], "-O2", "-c", INCLUDE / source], cwd=tmp_path, check=True, timeout=patient(60)
        )
    sources = [INCLUDE / "tracelib.f90", INCLUDE / "tracelib_balance.f90", EXAMPLES / name]
    words = [leg.compilers[".f90"], "-O2", *sources, "tracelib_balance.o", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=patient(120))
    return [tmp_path / "program"]


def computed_s(text):
    return float(re.search(r"computed\s+([\d.]+) s", text)[1])


def owned(text):
    return int(re.search(r"of rank 0: (\d+)", text)[1])


ARGUMENTS = {"heat.c": "400 200", "heat.f90": "400 200", "heat.py": "600 100", "nbody.c": "900 20",
             "nbody.f90": "900 20", "nbody.py": "300 10"}  # fmt: skip


ONE_MPI = [("apt-openmpi", "apt-mpich")[k % 2] for k in range(len(ARGUMENTS))]
OTHER_MPI = ONE_MPI[1:] + ONE_MPI[:1]
"""Examples under one MPI are made faster by a plan; under the other they are correct while they are monitored."""


@pytest.mark.timed
@pytest.mark.parametrize(("leg", "name"), list(zip(ONE_MPI, ARGUMENTS, strict=True)), indirect=["leg"])
def test_a_plan_makes_an_unequal_run_faster(leg, compiled, launch, tmp_path, name):
    """P7: rank 0 is 4 times as slow. The slowest rank's CPU time falls to about 1 / 3, which the plan says: from 1 / 3
    of the work at 4 times the cost to 1 / 9."""
    program, (size, steps) = built(leg, name, tmp_path, compiled), ARGUMENTS[name].split()
    plan = tmp_path / "next.plan"
    plan.write_text("tracelib-plan 1\nranks 3\nspeeds 0 1 4 4\n")
    words = [*program, size, steps, "plan", "4"]
    before = launch(leg, *words, ranks=3, preload=False).check().stdout
    after = launch(leg, *words, ranks=3, preload=False, env={"TRACELIB_PLAN": str(plan)}).check().stdout
    assert owned(after) == split(int(size), [1, 4, 4])[0]
    assert computed_s(after) < 0.65 * computed_s(before)


def test_a_bad_plan_is_one_line(openmpi, compiled, launch, tmp_path):
    """The run goes on with equal shares, in C as in Python."""
    (tmp_path / "a.plan").write_text("tracelib-plan 1\nranks 2\nspeeds 0 1 1\n")
    environment = {"TRACELIB_PLAN": str(tmp_path / "a.plan")}
    program = built(openmpi, "heat.c", tmp_path, compiled)
    found = launch(openmpi, *program, "90", "10", "plan", ranks=3, preload=False, env=environment).check()
    assert "line 2 of" in found.stderr and owned(found.stdout) == 30
    program = built(openmpi, "heat.py", tmp_path, compiled)
    found = launch(openmpi, *program, "90", "10", "plan", ranks=3, preload=False, env=environment).check()
    assert found.stderr.count("is for 2 ranks, and there are 3") == 1 and owned(found.stdout) == 30


MONITORED = """
import time
from mpi4py import MPI
from tracelib import balance

rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
monitor = balance.Monitor(300, seconds=0, threshold=0.1, clock=lambda: now[0])
now, seen = [0.0], []
for step in range(30):
    slow = rank == 0 and 10 <= step < 20
    with monitor.computing():
        now[0] += monitor.share.count * (3e-3 if slow else 1e-3)
    if monitor.step():
        seen.append((step, monitor.share.counts, monitor.before.counts))
report = monitor.report()
if rank == 0:
    print(seen)
    print(report)
"""


@pytest.fixture(params=["apt-openmpi", "apt-mpich"], name="leg")
def either(request, legs):
    """Debian's Open MPI and MPICH."""
    if legs[request.param].missing:
        pytest.skip(legs[request.param].missing)
    return legs[request.param]


def test_the_monitor_follows_a_load_that_comes_and_goes(leg, launch, tmp_path):
    """With a clock of its own, rank 0 is 3 times as slow in steps 10 to 19.

    In the third step of these its share becomes a third of the others', and in the third step after them an equal one
    again.
    """
    (tmp_path / "monitored.py").write_text(MONITORED)
    words = [leg.python, str(tmp_path / "monitored.py")]
    text = launch(leg, *words, ranks=3, preload=False, env={"PYTHONPATH": str(ROOT)}).check().stdout
    seen, report = eval(text.splitlines()[0]), text.splitlines()[1]
    assert [step for step, *_ in seen] == [12, 22] and seen[0][2] == seen[1][1] == (100, 100, 100)
    assert sum(seen[0][1]) == 300 and 3 * seen[0][1][0] <= 129 == max(seen[0][1])
    assert re.match(r"monitor: 30 steps, 30 looks, 2 new plans; looks took \S+ s of \S+ s \(\S+ %\)", report)


@pytest.mark.parametrize(("leg", "name"), list(zip(OTHER_MPI, ARGUMENTS, strict=True)), indirect=["leg"])
def test_examples_are_right_while_they_are_monitored(leg, compiled, launch, tmp_path, name):
    """Whatever shares the monitor chooses, the result is that of a run without it."""
    program, (size, steps) = built(leg, name, tmp_path, compiled), ARGUMENTS[name].split()
    found = [launch(leg, *program, size, steps, *how, ranks=3, preload=False).check().stdout
             for how in (["plan"], ["monitor", "6"])]  # fmt: skip
    assert "looks took" in found[1] and "looks took" not in found[0]
    energies = [re.findall(r"energy (\S+);", text) for text in found]
    assert energies[0] == energies[1]


@pytest.mark.timed
def test_the_monitor_follows_busy_processes(leg, compiled, launch):
    """Two ranks with a CPU each, and 5 other processes on the CPU of rank 0 in steps 30 to 69 of 150. Rank 0 gets less
    while they are there, and more again afterwards; whatever else runs on the machine makes few plans. On a machine
    with many other processes these 5 may change little, and the program says how much."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one CPU only")
    program = compiled(leg, source_of("loaded.c"), *HEADERS)
    words = ["100", "150", "0", "5", "30", "70"]
    found = launch(leg, program, *words, ranks=2, preload=False, limit_s=120).check().stdout
    shares = [(int(step), int(count)) for step, count in re.findall(r"step (\d+): (\d+)", found)]
    before, busy, after = map(float, re.search(r"slower (\S+) (\S+) (\S+)", found).groups())
    least = min((count for step, count in shares if 30 < step <= 70), default=50)
    assert len(shares) <= 12 and "looks took" in found, found
    if busy > 2 and before < 1.5:
        assert least < 45, found
    if busy > 2 and before < 1.5 and after < 1.2:
        assert shares[-1][1] > least, found


def paces(text):
    """Seconds of an item in the busy phase of loaded.c, of both ranks."""
    return list(map(float, re.search(r"paces (\S+) (\S+)", text).groups()))


@pytest.mark.timed
def test_a_plan_against_busy_processes(leg, compiled, traced, analyze):
    """P7: 5 other processes on the CPU of rank 0 from the first step to the last. The plan of the first run makes the
    next one faster: at least half of what it promised for sure, by the slow end of its interval, is kept where both
    CPUs are as fast as they were in the first run. Beside many other processes it may promise little, or they come and
    go between the two runs."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one CPU only")
    program = compiled(leg, source_of("loaded.c"), *HEADERS)
    words = [program, "500", "10", "-1", "5", "0", "10"]
    first = traced(leg, *words, ranks=2, limit_s=120)
    analyze("balance", str(first.run), "--region", "compute", "--items", "500", "-o", "next.plan").check()
    plan = first.folder / "next.plan"
    (expected,) = (expected for _, expected in read_plan(plan.read_text()).expected)
    (first.folder / "next").mkdir()
    env = {"TRACELIB_PLAN": str(plan)}
    later = traced(leg, *words, ranks=2, limit_s=120, env=env, folder=first.folder / "next")
    said = json.loads(analyze("balance", str(later.run), "--plan", str(plan), "--json").check().stdout)
    assert said["expected"]["even_s"] == expected.even_s and said["error"] == pytest.approx(
        said["took_s"] / expected.time_s - 1
    )
    assert f"rank 0 had {split(500, read_plan(plan.read_text()).speeds_at(500))[0]}" in later.finished.stdout
    both = zip(paces(first.finished.stdout), paces(later.finished.stdout), strict=True)
    if all(now < 1.25 * before for before, now in both):
        sure = 1 - expected.high_s / expected.even_s
        assert sure < 0.25 or said["gain"] > sure / 2, said
