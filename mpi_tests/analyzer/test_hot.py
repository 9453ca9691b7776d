"""`analyze hot` against what programs note of themselves with their own CPU clock."""

import json
import re
import subprocess
import sys

import pytest
from conftest import source_of
from sampled_runs import compile_alone, run_alone

FAMILIES = ("openmpi", "mpich")
NEAR = 0.03
"""The planted loop and the planted imbalance are found this well, of all computing."""
EVERY = {"TRACELIB_SAMPLE": "4ms", "TRACELIB_SAMPLER": "perf"}


def noted(folder):
    """Return the times that each rank noted: (smooth, solve) in seconds, all of its threads together."""
    sums = {}
    for path in folder.glob("hot-*-*"):
        rank = int(path.name.split("-")[1])
        before = sums.get(rank, (0, 0))
        sums[rank] = tuple(a + float(b) for a, b in zip(before, path.read_text().split(), strict=True))
    return sums


def check(found, truth, smooth="smooth", kernel="kernel"):
    """Times of both functions, by rank too, their imbalance, and that all adds up."""
    functions = {f["function"]: f for f in found["functions"]}
    whole = sum(map(sum, truth.values()))
    for name, at in ((smooth, 0), (kernel, 1)):
        mine, by_rank = functions[name], {rank: times[at] for rank, times in truth.items()}
        assert mine["inclusive_s"] == pytest.approx(sum(by_rank.values()), abs=NEAR * whole)
        for rank, time_s in by_rank.items():
            assert mine["by_rank_s"][str(rank)] == pytest.approx(time_s, abs=NEAR * whole)
        most = max(by_rank.values())
        assert mine["imbalance"] == pytest.approx((most - sum(by_rank.values()) / len(by_rank)) / most, abs=2 * NEAR)
    if len(truth) > 1:
        assert functions[kernel]["most_on_rank"] == max(truth)
    computing = sum(rank["computing_s"] - rank["without_cpu_s"] for rank in found["ranks"])
    assert sum(f["time_s"] for f in found["functions"]) == pytest.approx(computing)


@pytest.mark.timed
@pytest.mark.parametrize("family", FAMILIES)
def test_what_was_planted_is_found(request, compiled, traced, analyze, tmp_path, family):
    leg = request.getfixturevalue(family)
    traced(leg, compiled(leg, "planted.c", "-O2", "-pthread"), "0.03", "1", ranks=2, env=EVERY)
    found = json.loads(analyze("hot", "run.h5", "--lines", "--json").check().stdout)
    check(found, noted(tmp_path))
    assert all(rank["lost"] == 0 for rank in found["ranks"])
    assert any(line["place"].startswith("planted.c:") and line["function"] == "kernel" for line in found["lines"])
    assert {f["function"] for f in found["functions"]} <= {"smooth", "kernel", "cpu_s", "solve", "work", "main", "?"}
    if family == "openmpi":
        alone = analyze("hot", "run.h5", "--lines").check().stdout
        assert analyze("hot", "run.h5", "--lines", under=leg, ranks=2).check().stdout == alone
    only = json.loads(analyze("hot", "run.h5", "--json", "--ranks", "1").check().stdout)
    assert [rank["rank"] for rank in only["ranks"]] == [1]
    through = json.loads(analyze("hot", "run.h5", "--json", "--place", "^solve$").check().stdout)
    assert {f["function"] for f in through["functions"]} <= {"kernel", "solve", "cpu_s"}


@pytest.mark.timed
def test_functions_of_a_stripped_program(tmp_path, analyze):
    """All that a function computes is one row, which is called by where the function begins."""
    program = compile_alone("planted.c", tmp_path)
    nm = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    begin = {name: int(at, 16) for at, name in re.findall(r"(\w+) t (smooth|kernel)\n", nm)}
    subprocess.run(["strip", "-s", program], check=True)
    run_alone(tmp_path, program, "0.1", **EVERY).check()
    found = json.loads(analyze("hot", "run.h5", "--json").check().stdout)
    check(found, noted(tmp_path), *(f"planted+{begin[name]:#x}" for name in ("smooth", "kernel")))


@pytest.mark.timed
def test_fortran(openmpi, compiled, traced, analyze, tmp_path):
    traced(openmpi, compiled(openmpi, "planted.F90", "-O2"), "0.03", ranks=2, env=EVERY)
    found = json.loads(analyze("hot", "run.h5", "--json").check().stdout)
    check(found, noted(tmp_path), "heat::smooth", "heat::kernel")


@pytest.mark.timed
def test_by_a_signal(tmp_path, analyze):
    """Where the kernel looks at its ticks only."""
    program = compile_alone("planted.c", tmp_path)
    run_alone(tmp_path, program, "0.1", TRACELIB_SAMPLE="4ms", TRACELIB_SAMPLER="signal").check()
    found = json.loads(analyze("hot", "run.h5", "--json").check().stdout)
    assert found["sampled_by"] == "signal"
    check(found, noted(tmp_path))


def test_the_first_look_says_where_computing_goes(tmp_path, analyze):
    program = compile_alone("planted.c", tmp_path)
    run_alone(tmp_path, program, "0.02").check()
    said = " ".join(analyze("look", "--no-files", "run.h5").check().stdout.split())
    assert re.search(r"of computing (with a CPU )?is in kernel, most at planted\.c:", said)


@pytest.mark.parametrize("way", ["perf", "signal"])
def test_python(tmp_path, analyze, way):
    """Functions of Python are its own, where a signal tells them; it is what is taken if nothing else is asked for."""
    (tmp_path / "loop.py").write_text(
        "def hot(n):\n    s = 0.0\n    for i in range(n):\n        s += i * 0.5\n    return s\n\n\nhot(6000000)\n"
    )
    more = {"TRACELIB_SAMPLER": way} if way == "perf" else {}
    run_alone(tmp_path, sys.executable, "loop.py", **more).check()
    found = json.loads(analyze("hot", "run.h5", "--json", "--lines").check().stdout)
    assert found["sampled_by"] == way
    lines = {line["place"] for line in found["lines"] if line["function"] == "hot"}
    assert bool(lines & {"loop.py:4 in hot", "loop.py:3 in hot"}) == (way == "signal")


@pytest.mark.timed
def test_mpi4py(openmpi, traced, analyze, tmp_path):
    """Functions and lines of Python, by rank, and none of the interpreter's own; MPI's time is nobody's."""
    traced(openmpi, openmpi.python, str(source_of("planted.py")), "0.05", ranks=2, env={"TRACELIB_SAMPLE": "4ms"})
    found = json.loads(analyze("hot", "run.h5", "--lines", "--json").check().stdout)
    assert found["sampled_by"] == "signal"
    truth = noted(tmp_path)
    whole = sum(map(sum, truth.values()))
    (work,) = (f for f in found["functions"] if f["function"] == "work")
    assert work["time_s"] == pytest.approx(whole, rel=0.1) and work["most_on_rank"] == 1
    for at, name in enumerate(("smooth", "solve")):
        through = json.loads(analyze("hot", "run.h5", "--json", "--place", f"^{name}$").check().stdout)
        spent = sum(times[at] for times in truth.values())
        assert sum(f["time_s"] for f in through["functions"]) == pytest.approx(spent, abs=0.1 * whole)
    source = source_of("planted.py").read_text().splitlines()
    hottest = next(line["place"] for line in found["lines"] if line["function"] == "work")
    line = int(hottest.split(":")[1].split()[0])
    assert source[line - 1].strip() in ("for i in range(500):", "total += i * 0.5")
