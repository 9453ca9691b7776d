"""Factorial designs and sweeps: effects and influences as computed by hand, and what the command prints."""

import json
import math
import threading
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import EPOCH
from patience import patient

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.machine.description import Machine, Network, Node
from analyzer.machine.parameters import vary
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.replays import end_times
from analyzer.sensitivity.knees import bend, knee
from analyzer.sensitivity.levels import check_number, default_factors, default_sweeps, factor_of, sweep_of
from analyzer.sensitivity.study import factorial, levels, sensitivity

MB = 1 << 20
MS = 10**6
FOUR = EPOCH / "epoch_4proc.prv.gz"


def program(messages=1, burst=0):
    """Rank 2k sends 1 MB to rank 2k + 1 after a burst."""
    streams = []
    for k in range(messages):
        send = {
            "kind": OperationKind.SEND,
            "peer": 2 * k + 1,
            "burst": burst,
            "bytes": MB,
            "flags": OperationFlag.IMMEDIATE,
        }
        streams += [operations(send), operations({"kind": OperationKind.RECV, "peer": 2 * k, "bytes": MB})]
    return Program.from_streams(streams)


def machine(**more):
    return Machine(node=Node(latency_s=2e-3), networks=(Network(75.0),), dialect="thesis", **more)


def study(of, *factors, on=None, sweeps=()):
    on = on or machine()
    chosen = [factor_of(text, on) for text in factors]
    return sensitivity(of, on, chosen, [sweep_of(text, on, of.ranks) for text in sweeps], Team())


def by_factors(design):
    return {t.factors: (t.coefficient, t.influence) for t in design.found.terms}


def test_the_table_of_signs():
    """Jain 1991, example 17.1: memory and cache; 15, 45, 25, 75 MIPS."""
    found = factorial([15, 45, 25, 75])
    assert found.mean == 40
    assert [(t.factors, t.coefficient) for t in found.terms] == [((0,), 20), ((1,), 10), ((0, 1), 5)]
    assert [round(100 * t.influence) for t in found.terms] == [76, 19, 5]


@settings(max_examples=50)
@given(st.integers(1, 4).flatmap(lambda k: st.lists(st.integers(0, 10**15), min_size=2**k, max_size=2**k)))
def test_terms_give_the_results_back(results):
    """The model is exact at all corners, influences sum to 100 %, and follow the definition."""
    k = len(results).bit_length() - 1
    found = factorial(results)
    sums = [found.mean] * len(results)
    for corner in range(len(results)):
        signs = [1 if high else -1 for high in levels(corner, k)]
        sums[corner] += sum(t.coefficient * math.prod(signs[j] for j in t.factors) for t in found.terms)
    assert sums == pytest.approx(results, rel=1e-9, abs=1e-2)
    if len(set(results)) > 1:
        assert sum(t.influence for t in found.terms) == pytest.approx(1)
        total = sum((y - found.mean) ** 2 for y in results)
        squares = [len(results) * t.coefficient**2 / total for t in found.terms]
        assert [t.influence for t in found.terms] == pytest.approx(squares, rel=1e-6, abs=1e-12)
    else:
        assert all(t.influence is None for t in found.terms)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 10**9), min_size=8, max_size=8), st.sampled_from(list(permutations(range(3)))))
def test_the_order_of_factors_does_not_matter(results, order):
    """Factor j of the second design is factor order[j] of the first."""
    first = factorial(results)
    moved = [results[sum(1 << order[j] for j in range(3) if corner >> j & 1)] for corner in range(8)]
    there = {t.factors: t for t in first.terms}
    for t in factorial(moved).terms:
        same = there[tuple(sorted(order[j] for j in t.factors))]
        assert (t.coefficient, t.influence) == (same.coefficient, same.influence)


def test_a_message_costs_latency_and_bandwidth():
    """Row 20, with F1, thesis: L + S/BW is 1 or 3 ms and 20 or 10 ms: 17 + 1 x_L - 5 x_BW, and no interaction."""
    found = study(program(), "latency=1ms..3ms", "bandwidth=50MB/s..100MB/s")
    assert found.design.ends_ns == (21 * MS, 23 * MS, 11 * MS, 13 * MS)
    assert found.design.found.mean == 17 * MS
    assert by_factors(found.design) == {(0,): (MS, 1 / 26), (1,): (-5 * MS, 25 / 26), (0, 1): (0, 0)}
    assert found.end_ns == 2 * MS + round(1e9 / 75)


def test_buses_and_bandwidth_act_together():
    """Two messages over 1 or 2 buses, 20 or 10 ms each: 40, 20, 20, 10 ms."""
    found = study(program(2), "buses=1..2", "bandwidth=50MB/s..100MB/s", on=vary(machine(), {"latency": 0}))
    assert found.design.ends_ns == (40 * MS, 20 * MS, 20 * MS, 10 * MS)
    assert by_factors(found.design) == {
        (0,): (-7.5 * MS, 56.25 / 118.75), (1,): (-7.5 * MS, 56.25 / 118.75), (0, 1): (2.5 * MS, 6.25 / 118.75)
    }  # fmt: skip


def test_what_does_not_matter_has_no_influence():
    """A burst of 100 ms and no message: only speed; without it, nothing."""
    alone = Program.from_streams([operations({"kind": OperationKind.NONE, "burst": 100 * MS})])
    found = study(alone, "latency=1ms..2ms", "speed=1..2").design
    assert by_factors(found) == {(0,): (0, 0), (1,): (-25 * MS, 1), (0, 1): (0, 0)}
    assert {t.influence for t in study(alone, "latency", "bandwidth").design.found.terms} == {None}


def test_levels_are_around_the_machine():
    on = vary(machine(), {"buses": 12})
    factors, left_out = default_factors(on)
    assert [(f.parameter.name, round(f.low, 9), round(f.high, 9)) for f in factors] == [
        ("latency", 0.0018, 0.0022), ("bandwidth", 67.5 * MB, 82.5 * MB), ("buses", 10, 14), ("speed", 0.9, 1.1),
    ]  # fmt: skip
    assert left_out == []
    assert [default_factors(machine())[1], len(default_factors(Machine.ideal())[0])] == [
        ["buses is infinite on this machine"], 1
    ]  # fmt: skip
    sweeps, left_out = default_sweeps(on, 4)
    assert [s.parameter.name for s in sweeps] == ["latency", "bandwidth", "buses", "speed"]
    assert len(default_sweeps(Machine.ideal(), 4)[1]) == 2  # buses up to one a rank, and speed, are known
    half = factor_of("latency=50%", on)
    assert (half.low, half.high) == (0.001, 0.003)
    assert [(f.low, f.high) for f in (factor_of("buses", vary(on, {"buses": n})) for n in (1, 2))] == [(1, 2), (1, 3)]


def test_sweeps_go_by_equal_ratios():
    assert sweep_of("latency=1us..1ms:4", machine(), 2).values == pytest.approx((1e-6, 1e-5, 1e-4, 1e-3))
    assert sweep_of("buses", machine(), 16).values == (1, 2, 3, 4, 5, 6, 8, 10, 13, 16)
    wide = sweep_of("speed", machine(), 2).values
    assert (len(wide), wide[0], wide[6], wide[-1]) == (13, 1 / 32, pytest.approx(1), 32)


@pytest.mark.parametrize(
    "text, says",
    [
        ("latency=5ms..1ms", "to a larger one"), ("latency=0..1ms", "above 0"), ("latency=5", "not a factor"),
        ("latency=200%", "not a factor"), ("buses", "infinite on this machine"), ("eager", "not set"),
        ("latency=1..2..3", "not a range"), ("latency=5..10", "ns, us, ms, s"), ("intra_latency", "is 0"),
    ],
)  # fmt: skip
def test_mistakes_in_factors(text, says):
    with pytest.raises(TracelibError) as caught:
        factor_of(text, machine())
    assert says in f"{caught.value} {caught.value.hint}"


def test_more_mistakes():
    for text in ("latency=1ms..2ms:x", "latency=1ms..2ms:1", "eager", "node.1.latency_us"):
        with pytest.raises(TracelibError):
            sweep_of(text, machine(), 2)
    with pytest.raises(TracelibError, match="twice"):
        check_number([factor_of("latency", machine())] * 2, 12)
    with pytest.raises(TracelibError, match="4 combinations"):
        check_number([factor_of(n, machine()) for n in ("latency", "speed")], 1)


def test_the_knee_is_where_the_run_is_5_percent_longer():
    """A burst of 99 ms and a message: 99 ms + L is 5 % longer than 100 ms at L = 6 ms; 100 ms + S/BW at 1 GB/s..."""
    found = study(program(burst=99 * MS), on=vary(machine(), {"bandwidth": math.inf}), sweeps=["latency=1ms..64ms:101"])
    assert found.sweeps[0].knee == pytest.approx(6e-3, rel=5e-3)
    of = program(burst=95 * MS)
    found = study(of, on=vary(machine(), {"latency": 0}), sweeps=["bandwidth=10MB/s..200MB/s:101"])
    assert found.sweeps[0].knee == pytest.approx(100 * MB, rel=5e-3)  # 95 + 5 ms; 95 + 10 ms


def test_knees_by_hand():
    """Linear in the logarithm between two values: from 100 to 110 over a factor of 100, half way is a factor of 10."""
    assert knee([1, 100], [100, 110]) == pytest.approx(10)
    assert knee([1, 100], [110, 100]) == pytest.approx(10)
    assert knee([1, 10, 100], [100, 104, 105]) is None
    assert knee([1, 10, 100, 1000], [100, 100, 150, 150], 0.25) == pytest.approx(10**1.5)
    assert knee([1, 2, 4], [110, 100, 100], whole=True) == 2  # one is too few
    assert knee([1, 2, 4, 8], [100, 100, 100, 110], whole=True) == 5  # 4 sqrt(2) is too many
    assert bend([1, 10, 100, 1000], [100, 100, 100, 200]) == 100
    assert bend([1, 10, 100, 1000], [200, 110, 100, 100]) == 10
    assert bend([1, 10, 100], [100, 101, 102]) is None
    assert bend([1, 10, 100], [100, 200, 300]) is None


class Half(Team):
    """One of two members, in threads of one process."""

    size = 2

    def __init__(self, rank, values, both):
        self.rank, self.values, self.both = rank, values, both

    def allgather(self, value):
        self.values[self.rank] = value
        self.both.wait(patient(10))
        return [self.values[0], self.values[1]]


def test_replays_are_shared():
    """Several at once, or among the members of a team: the same times in the same order."""
    machines = [vary(machine(), {"latency": k * 1e-3}) for k in range(1, 8)]
    expected = [k * MS + round(1e9 / 75) for k in range(1, 8)]
    cases = [(program(), machine) for machine in machines]
    assert end_times(cases, Team(), 1) == end_times(cases, Team(), 3) == expected
    found, values, both = {}, {}, threading.Barrier(2)

    def member(rank):
        found[rank] = end_times(cases, Half(rank, values, both))

    members = [threading.Thread(target=member, args=(rank,)) for rank in (0, 1)]
    for one in members:
        one.start()
    for one in members:
        one.join(patient(20))
    assert found == {0: expected, 1: expected}


needs_epoch = pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not here")


@needs_epoch
def test_the_command(tmp_path, capsys):
    """Corners and values equal predictions of `analyze replay`; a picture; influences sum to 1."""
    network = ["--bandwidth", "1000MB/s", "--eager-limit", "32k"]
    asked = ["--factor", "latency=5us..500us", "--factor", "speed", "--sweep", "latency=5us..500us:2", "-o", tmp_path]
    assert main(["sensitivity", str(FOUR), "--latency", "5us", *network, *map(str, asked), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    replayed = []
    for latency in ("5us", "500us"):
        assert main(["replay", str(FOUR), "--latency", latency, *network, "--json"]) == 0
        replayed.append(json.loads(capsys.readouterr().out)["predicted_s"])
    assert found["sweeps"][0]["predicted_s"] == replayed
    assert found["predicted_s"] == replayed[0]
    assert sum(t["influence"] for t in found["terms"]) == pytest.approx(1)
    assert [c["high"] for c in found["corners"]] == [[], ["latency"], ["speed"], ["latency", "speed"]]
    picture = tmp_path / "epoch_4proc.sensitivity.png"
    assert found["picture"] == str(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


@needs_epoch
def test_what_the_command_prints(capsys):
    assert main(["sensitivity", str(FOUR), "--latency", "5us", "--bandwidth", "1000MB/s", "--eager-limit", "32k"]) == 0
    said = capsys.readouterr().out
    assert "Speed matters most: it explains >99.9 %" in said
    assert "Left out: buses is infinite on this machine" in said


@needs_epoch
def test_all_sweeps(tmp_path, capsys):
    """All four parameters that have a value are swept."""
    asked = ["--sweep", "all", "--sweep", "links=1..2", "--latency", "5us", "--bandwidth", "0", "-o", str(tmp_path)]
    assert main(["sensitivity", str(FOUR), *asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [sweep["name"] for sweep in found["sweeps"]] == ["links", "latency", "buses", "speed"]
    assert (found["left_out"], found["terms"]) == (["bandwidth is infinite on this machine"], [])


@needs_epoch
def test_mistakes_of_the_command(tmp_path, capsys):
    (tmp_path / "x.sensitivity.png").write_text("mine")
    for arguments, says in (
        (["--factor", "latncy"], "did you mean latency"),
        (["--sweep", "latency", "-o", f"{tmp_path}/x"], "is not a .png file"),
        (["--within", "2"], "--within"),
    ):
        assert main(["sensitivity", str(FOUR), "--latency", "5us", "--bandwidth", "1GB/s", *arguments]) != 0
        assert says in capsys.readouterr().err
    assert (tmp_path / "x.sensitivity.png").read_text() == "mine"
