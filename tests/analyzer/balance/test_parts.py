"""Parts of a program joined with the plan (formula 2): the time of a process is the sum of its parts' models."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placed_runs import placed
from synthetic import WORLD, call, write_run

from analyzer.balance.formula import TimeFormula
from analyzer.balance.parts import COM, CPU, MachinePart, equal_finish
from analyzer.balance.plans import MachineGroup, expectation, fractions, plan_of, rank_times_s
from analyzer.balance.repository import MachineModel, load_models, save_models
from analyzer.cli import main
from analyzer.errors import TracelibError
from tracelib.schema.shares import read_plan

MS = 1_000_000


def of_parts(name, shared, fixed):
    parts = (MachinePart(CPU, "work", TimeFormula(shared), None), MachinePart(COM, "sends", None, TimeFormula(fixed)))
    return MachineModel(name, TimeFormula(f"{shared} + {fixed}"), parts=parts)


def test_by_hand():
    """W = 8 and 2 s, c = 0.2 and 1.4 s, one machine each: 8 f + 0.2 = 2 (1 - f) + 1.4, so f = 0.32 and T = 2.76."""
    groups = [
        MachineGroup(of_parts("slow", "8 * n / p", "0.2"), 1),
        MachineGroup(of_parts("fast", "2 * n / p", "1.4"), 1),
    ]
    assert fractions(groups, 1) == pytest.approx([0.32, 0.68])
    assert rank_times_s(groups, 1, [32, 68], 100) == pytest.approx([2.76, 2.76])
    _, (found,) = plan_of(groups, [100])
    assert found.spread_s < 0.1 * max(found.times_s)


def test_communication_that_grows_with_the_processes_counts():
    """c = 0.1 p: with two machines each it is 0.4 s, and shares are as for the whole program of four processes."""
    groups = [MachineGroup(of_parts("slow", "8 / p", "0.1 * p"), 2), MachineGroup(of_parts("fast", "2 / p", "0"), 2)]
    slow, fast = fractions(groups, 1)
    assert 8 * slow + 0.4 == pytest.approx(2 * fast) and 2 * slow + 2 * fast == pytest.approx(1)


@given(st.lists(st.tuples(st.floats(0.1, 100), st.floats(0, 10), st.integers(1, 9)), min_size=1, max_size=5))
def test_all_finish_together_with_all_of_the_work(rows):
    whole, fixed, counts = map(list, zip(*rows, strict=True))
    found = equal_finish(whole, fixed, counts)
    times = [f * w + c for f, w, c in zip(found, whole, fixed, strict=True)]
    assert sum(p * f for p, f in zip(counts, found, strict=True)) == pytest.approx(1)
    assert times == pytest.approx([times[0]] * len(times), rel=1e-6, abs=1e-9)


def test_a_machine_that_would_get_nothing():
    groups = [MachineGroup(of_parts("slow", "8 / p", "9"), 1), MachineGroup(of_parts("fast", "2 / p", "0"), 1)]
    with pytest.raises(TracelibError, match="slow would get no work"):
        fractions(groups, 1)


def test_the_interval_is_that_of_the_parts():
    """Independent errors of 0.3 and 0.4 s at an equal share: 0.5 s."""
    parts = (
        MachinePart(CPU, "work", TimeFormula("4 / p"), None, TimeFormula("0.3")),
        MachinePart(COM, "sends", None, TimeFormula("1"), TimeFormula("0.4")),
    )
    groups = [MachineGroup(MachineModel("m", TimeFormula("4 / p + 1"), parts=parts), 2)]
    found = expectation(groups, 1, [5, 5], 10)
    assert (found.low_s, found.time_s, found.high_s) == pytest.approx((2.5, 3.0, 3.5))


def test_a_repository_keeps_parts(tmp_path):
    models = {"m": of_parts("m", "3 * n / p", "0.1 * p")}
    save_models(models, tmp_path / "m.json")
    assert load_models(tmp_path / "m.json") == models


def run_of(folder, p, n, speed):
    """p ranks: n / speed ms of work shared between them, 1 ms that each repeats, and a reduction of 2 ms a rank."""
    folder.mkdir(exist_ok=True)
    at = 2 * MS + round(n * MS / speed / p)
    barrier = call("MPI_Barrier", at, at + 10_000, comm=WORLD)
    again = at + 10_000 + MS
    reduce = call("MPI_Allreduce", again, again + 2 * MS * p, comm=WORLD, sent=8, received=8)
    last = reduce["exit"]
    calls = [call("MPI_Init", MS, 2 * MS), barrier, reduce, call("MPI_Finalize", last, last + MS)]
    places = [(("main", 1),), (("main", 5),), (("main", 6), ("solve", 88)), (("main", 9),)]
    return str(write_run(folder, [placed({"calls": calls}, places)] * p, name=f"p{p}n{n}"))


@pytest.fixture
def learned(tmp_path, monkeypatch):
    """machines.json of two types, from traced runs of several sizes on several numbers of ranks."""
    monkeypatch.chdir(tmp_path)
    for name, speed in (("slow", 1), ("fast", 4)):
        grid = [(p, n) for p in (2, 4, 8) for n in (400, 800, 1600)]
        runs = [run_of(tmp_path / name, p, n, speed) for p, n in grid]
        sizes = ",".join(str(n) for _, n in grid)
        assert main(["fit", *runs, "--by", "place", "--set", f"n={sizes}", "-o", f"{name}.parts.json", "-q"]) == 0
        assert main(["balance", "--models", "machines.json", "--learn", f"{name}={name}.parts.json", "-q"]) == 0
    return tmp_path


def test_from_traced_runs_to_a_plan(learned, capsys):
    """With 4 slow and 4 fast processes, f 1600 ms + 17 ms each, all finish after 17 + 1600 / (4 + 16) = 97 ms."""
    mix = ["--machines", "slow=4,fast=4", "--size", "1600"]
    assert main(["balance", "--models", "machines.json", *mix, "-o", "mix.plan", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (size,) = found["sizes"]
    assert size["fractions"] == pytest.approx([1 / 20, 4 / 20], rel=0.02)
    assert size["expected"]["time_s"] == pytest.approx(0.097, rel=0.02)
    assert size["expected"]["even_s"] == pytest.approx(0.2 + 0.017, rel=0.02)
    slow, fast = found["parts"]
    for row in (slow, fast):
        assert row["shared_s"] == pytest.approx(0.08, rel=0.03) and row["repeated_s"] == pytest.approx(0.001, rel=0.1)
        assert row["communication_s"] == pytest.approx(0.016, rel=0.03)
    shares = read_plan((learned / "mix.plan").read_text()).shares(1600)
    assert shares == pytest.approx([80] * 4 + [320] * 4, rel=0.02)
    assert main(["balance", "--models", "machines.json", *mix]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "machine n shared repeated communication all else in all" in said


def test_runs_of_one_number_of_ranks(tmp_path, monkeypatch, capsys):
    """All computing counts as shared then."""
    monkeypatch.chdir(tmp_path)
    runs = [run_of(tmp_path / "one", 4, n, 1) for n in (400, 800, 1600, 3200)]
    assert main(["fit", *runs, "--by", "place", "--set", "n=400,800,1600,3200", "-o", "one.parts.json", "-q"]) == 0
    assert main(["balance", "--models", "m.json", "--learn", "one=one.parts.json", "-q"]) == 0
    assert main(["balance", "--models", "m.json", "--machines", "one=8", "--size", "1600", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["parts"]
    assert row["shared_s"] == pytest.approx((1600 / 8 + 4 / 8) / 1000, rel=0.02) and row["repeated_s"] == 0
    assert row["communication_s"] == pytest.approx(0.008, rel=0.03)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["balance", "--models", "machines.json", "--learn", "x=broken.json"], "no models of parts"),
        (["balance", "--models", "machines.json", "--learn", "x=ranks.parts.json"], "the ranks alone"),
        (["fit", "a.h5", "b.h5", "c.h5", "-o", "out.json"], "written as NAME.parts.json"),
    ],
)
def test_mistakes(learned, words, reason, capsys):
    (learned / "broken.json").write_text('{"format": "tracelib-parts", "version": 1, "parts": 3}')
    runs = [run_of(learned / "again", p, 400, 1) for p in (2, 4, 8)]
    assert main(["fit", *runs, "--by", "place", "-o", "ranks.parts.json", "-q"]) == 0
    assert main(words) != 0
    said = capsys.readouterr().err
    assert reason in said and len(said.splitlines()) == 1
