"""Limits of a run: by hand for each kind of limit, Table 11 of the thesis, and sums that must hold for any run."""

import io
import json
import re
from dataclasses import replace
from random import Random

import pytest
from paths import EPOCH
from random_replays import random_machine, random_program
from rich.console import Console
from synthetic import call, write_run
from thread_team import by_team

from analyzer.cli import main
from analyzer.efficiency.cpu_use import CpuSharing
from analyzer.errors import TracelibError
from analyzer.machine.description import DIALECTS, CostPiece, Machine, Network, Node
from analyzer.machine.parameters import PARAMETERS, vary
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.replays import counted, end_times
from analyzer.replay.simulate import simulate
from analyzer.report.limits import LimitsReport, MachineOrigin, below_zero, limits_json, print_limits, verdict
from analyzer.report.words import units
from analyzer.report.words.eager import Eager
from analyzer.report.words.replays import value_text
from analyzer.sensitivity import tolerance as tolerance_module
from analyzer.sensitivity.limits import LatencyCost, NetworkScenario, limits, only
from analyzer.sensitivity.tolerance import tolerance
from analyzer.trace.sharing import Sharing

MB = 1 << 20
MS = 10**6
FOUR = EPOCH / "epoch_4proc.prv.gz"
IDEAL = Machine.ideal(dialect="thesis")


def exchange(bursts=(10, 10), size=MB):
    """Neighbours compute (ms), then send each other a message."""
    streams = []
    for rank, burst in enumerate(bursts):
        send = {
            "kind": OperationKind.SEND,
            "peer": rank ^ 1,
            "bytes": size,
            "burst": burst * MS,
            "flags": OperationFlag.IMMEDIATE,
        }
        streams.append(operations(send, {"kind": OperationKind.RECV, "peer": rank ^ 1, "bytes": size}))
    return Program.from_streams(streams)


def chain(ranks=4):
    """Return a program in which each rank computes 10 ms when the rank before it has done so."""
    streams = []
    for rank in range(ranks):
        before = [{"kind": OperationKind.RECV, "peer": rank - 1}] if rank else []
        last = {"kind": OperationKind.NONE, "burst": 10 * MS}
        send = {"kind": OperationKind.SEND, "peer": rank + 1, "burst": 10 * MS, "flags": OperationFlag.IMMEDIATE}
        streams.append(operations(*before, send if rank < ranks - 1 else last))
    return Program.from_streams(streams)


def losses(found):
    return {loss.name: loss.ns / MS for loss in found.losses if loss.ns}


@pytest.mark.parametrize(
    "program, machine, expected, limit, following",
    [
        (exchange(), {"latency": 5e-3}, {"latency": 5}, "computation", "Next is latency: 5.00 ms (33.3 %)"),
        (exchange((1, 1)), {"latency": 5e-3}, {"latency": 5}, "latency", "Next is computation: 1.00 ms (16.7 %)"),
        (exchange((1, 1)), {"bandwidth": 100 * MB}, {"bandwidth": 10}, "bandwidth", "Next is computation: 1.00 ms"),
        (exchange((1,) * 4), {"bandwidth": 1000 * MB, "buses": 1}, {"contention": 3, "bandwidth": 1}, "contention", ""),
        (exchange((10,) * 4), {"bandwidth": 500 * MB, "links": 1}, {"bandwidth": 2}, "computation", "Next is band"),
        (exchange((10, 2)), {}, {"load imbalance": 4}, "computation", "Next is load imbalance: 4.00 ms (40.0 %)"),
        (exchange((10, 1, 1, 1)), {}, {"load imbalance": 6.75}, "load imbalance", "Next is computation: 3.25 ms"),
        (chain(), {}, {"dependences": 30}, "dependences", "Next is computation: 10.0 ms (25.0 %)"),
        (chain(), {"latency": 1e-3}, {"dependences": 30, "latency": 3}, "dependences", "Next is computation"),
        (exchange(), {"latency": 1e-4, "bandwidth": 1e4 * MB, "buses": 1}, None, "computation", "All other parts"),
    ],
)  # fmt: skip
def test_the_limit_is_named(program, machine, expected, limit, following):
    """It is the largest part; the numbers (ms) come from F1 and from ceil(messages / buses)."""
    found = limits(program, vary(IDEAL, machine), Team())
    assert expected is None or losses(found) == expected
    assert found.limit.name == limit
    assert verdict(found).startswith(f"The run is limited by {limit}: ")
    assert following in verdict(found)


def test_processors_are_shared():
    """Two ranks of 10 ms on one CPU take 20 ms."""
    found = limits(exchange(size=0), replace(IDEAL, nodes=(Node(),)), Team())
    assert losses(found) == {"shared CPUs": 10}
    assert [part.name for part in found.parts[:2]] == ["computation", "shared CPUs"]  # 10 ms each


def test_several_threads_compute_at_once():
    """A block of 40 ms for 4 threads lasts 10 ms, on a CPU of double speed 5: nothing is lost but for the other rank,
    which has 2 ms to do."""
    block = operations({"kind": OperationKind.PARALLEL, "burst": 40 * MS, "other": 4})
    program = Program.from_streams([block, operations({"kind": OperationKind.NONE, "burst": 4 * MS})])
    found = limits(program, replace(IDEAL, node=Node(cpus=4, speed=2.0), mapping="round-robin"), Team())
    assert (found.whole.end_ns, found.computing_ns, losses(found)) == (5 * MS, 3.5 * MS, {"load imbalance": 1.5})
    assert found.whole.utilisation == 0.7


def test_computation_that_takes_no_time():
    """At speed 0 nothing lasts, blocks of several threads neither; no ratio is of 0."""
    block = operations({"kind": OperationKind.PARALLEL, "burst": 40 * MS, "other": 4})
    found = limits(Program.from_streams([block]), replace(IDEAL, node=Node(cpus=4, speed=0.0)), Team())
    assert (found.whole.end_ns, found.computing_ns, found.limit) == (0, 0, None)
    assert (
        found.whole.utilisation == 0 and found.whole.slowdown(found.ideal) is found.whole.speedup(found.ideal) is None
    )


def test_all_costs_at_once():
    """Row 35: 10 ms of computation, 5 ms latency, 10 ms of wire twice over one bus; each alone, and the gains."""
    machine = vary(IDEAL, {"latency": 5e-3, "bandwidth": 100 * MB, "buses": 1})
    found = limits(exchange(), machine, Team())
    assert [s.end_ns / MS for s in found.scenarios] == [10, 15, 20, 25, 35]
    assert [s.utilisation for s in found.scenarios] == pytest.approx([1, 10 / 15, 0.5, 0.4, 10 / 35])
    assert {loss.name: loss.gain_ns for loss in found.losses if loss.gain_ns is not None} == {
        "latency": 5 * MS, "bandwidth": 20 * MS, "contention": 10 * MS
    }  # fmt: skip
    assert (found.messages, found.most_waiting, found.mean_waiting) == (2, 1, 10 / 35)


def test_latency_induces_blocking():
    """Row 36: three messages of four ranks of a chain wait for 3 x 5 ms; each rank spends 3/4 x 5 ms on its CPU."""
    found = limits(chain(), vary(IDEAL, {"latency": 5e-3}), Team()).latency
    assert (found.extra_ns, found.direct_ns, found.induced_ns) == (15 * MS, 3.75 * MS, 11.25 * MS)


def test_latency_of_collectives_is_direct():
    """Thesis: one phase of L for all members; Dimemas 5.5: 2 L."""
    barrier = Program.from_streams([operations({"kind": OperationKind.COLLECTIVE, "burst": 10 * MS}) for _ in range(4)])
    for dialect, phases in (("thesis", 1), ("standard", 2), ("dimemas-5.5", 2)):
        found = limits(barrier, vary(Machine.ideal(dialect=dialect), {"latency": 5e-3}), Team()).latency
        assert (found.direct_ns, found.induced_ns) == (phases * 5 * MS, 0)


TABLE_11 = {
    8: [(41.513, 94.72, None), (53.689, 73.36, 0.77), (44.268, 88.88, 0.94), (68.384, 58.00, 0.61)],
    32: [(10.848, 88.54, None), (27.613, 35.03, 0.39), (12.644, 76.14, 0.86), (72.584, 13.68, 0.15)],
}


def test_table_11():
    """Its slowdowns (the inverse of ours) and speedups from its times; 10.1 s of the latency's 12.1 s (sic, 12.176) are
    1010 messages."""
    rows = {
        ranks: [NetworkScenario("", round(t * 1e9), u / 100) for t, u, _ in table] for ranks, table in TABLE_11.items()
    }
    for ranks, table in TABLE_11.items():
        ideal, *others = rows[ranks]
        assert [round(1 / s.slowdown(ideal), 2) for s in others] == [slowdown for _, _, slowdown in table[1:]]
    pairs = zip(rows[32], rows[8], strict=True)
    assert [round(many.speedup(few), 2) for many, few in pairs] == [3.83, 1.94, 3.50, 0.94]
    latency = LatencyCost(rows[8][1].end_ns - rows[8][0].end_ns, 1010 * 10 * MS)
    assert (latency.extra_ns / 1e9, round(latency.induced_ns / 1e9, 1)) == (12.176, 2.1)


def test_parts_sum_to_the_whole():
    """On any program and machine that do not stop: naming each rank its node changes nothing, no rank ends before it
    has computed (but for roundings), and the mean computation and all losses are the whole time."""
    done = 0
    for seed in range(40):
        random = Random(seed)
        program = random_program(random)
        machine = random_machine(random, program.ranks, random.choice(DIALECTS))
        try:
            whole = simulate(program, machine).end_ns
            found = limits(program, machine, Team(), 1)
        except TracelibError:
            continue
        done += 1
        assert found.whole.end_ns == whole
        assert {loss.name: loss.ns for loss in found.losses}["dependences"] >= -len(program.ops)
        assert found.computing_ns + sum(loss.ns for loss in found.losses) == pytest.approx(whole, abs=1)
    assert done >= 10


@pytest.mark.parametrize("seed", range(30))
def test_the_words_are_those_of_the_table(seed):
    """On any program and machine: the verdict names the largest part of the table with its numbers, next the second,
    the table's parts sum to its last row, and each part below 0 is explained."""
    random = Random(1000 + seed)
    program = random_program(random)
    machine = random_machine(random, program.ranks, random.choice(("thesis", "dimemas-5.5")))
    try:
        found = limits(program, machine, Team(), 1)
    except TracelibError:
        return
    run = LimitsReport("run.h5", 0, machine, MachineOrigin.NAMED, Eager(None, "calls"), found, None)
    rows = printed_parts(run)
    end_ns = found.whole.end_ns
    assert sum(part.ns for part in found.parts) == end_ns
    ordered = [part.ns for part in found.parts]
    assert ordered == sorted(ordered, reverse=True)
    assert rows.pop("= replayed")[0] == units.time(end_ns)
    if not end_ns:
        assert verdict(found) == "Nothing limits the run: it takes no time."
        return
    name, (time, share) = next(iter(rows.items()))
    assert (name, run.limit) == (found.parts[0].name, name)
    assert verdict(found).startswith(f"The run is limited by {name}: {time} ({share}) of {units.time(end_ns)}")
    explained = {name for line in below_zero(run) for name in line.split(": ")[1].split(", ")}
    assert explained - {"by blocking"} == {part.name for part in found.parts if part.ns < -0.0005 * end_ns}
    second = found.parts[1]
    words = [f" Next {verb} {second.name}: {units.time(second.ns)} (" in verdict(found) for verb in ("is", "are")]
    assert (second.ns >= 0.05 * end_ns) == any(words)


def printed_parts(run):
    """Name, time and share of the rows that are not indented, as they are printed."""
    text = io.StringIO()
    print_limits([run], Console(file=text, width=100))
    table = text.getvalue().split("where the time goes")[1].split("\n\n")[0].splitlines()[1:]
    found = {}
    for line in table:
        match = re.match(r"(\S.*?)\s+(-?[\d.]+ \w+)\s+(-?[<>]?[\d.]+ %|-)", line)
        if match:
            found[match[1]] = match[2], match[3]
    return found


def said_of(run):
    """The words under the tables."""
    text = io.StringIO()
    print_limits([run], Console(file=text, width=1000))
    return text.getvalue().split("\n\n")[-1]


@pytest.mark.parametrize(
    "measured_ms, origin, limit",
    [
        (35, MachineOrigin.RUN, "outside the replay"),
        (20, MachineOrigin.RUN, "computation"),
        (35, MachineOrigin.NAMED, "computation"),
        (15, MachineOrigin.UNKNOWN, "computation"),
    ],
)
def test_what_is_outside_the_replay_is_a_part(measured_ms, origin, limit):
    """A replay of 15 ms, 10 of them computation, of a run that took longer. On another machine that says nothing."""
    found = limits(exchange(), vary(IDEAL, {"latency": 5e-3}), Team())
    run = LimitsReport("run.h5", measured_ms * MS, IDEAL, origin, Eager(None, "calls"), found, None, starting_ns=3 * MS)
    assert run.limit == limit == limits_json([run])[0]["limit"]
    assert run.outside_ns == (None if origin is MachineOrigin.NAMED else (measured_ms - 15) * MS)
    words = said_of(run)
    if limit == "outside the replay":
        assert words.startswith(
            "The largest part of the run is outside the replay: 20.0 ms (57.1 %) of the 35.0 ms as measured. MPI_Init "
            "and MPI_Finalize take 3.00 ms of it on each rank; the rest is"
        )
        assert "\nThe replay is limited by computation: 10.0 ms (66.7 %) of 15.0 ms." in words
    else:
        assert words.startswith(("The run is limited by", "Apart from its network, the run is limited by"))


def test_starting_is_part_of_what_is_outside(tmp_path, capsys):
    """Rank 0 computes 800 ms before MPI_Init, in which rank 1 waits for it: 100 ms of MPI_Init and 50 of MPI_Finalize
    are not in the replay, and nothing else."""
    ranks = [
        {"calls": [call("MPI_Init", begin * MS, 900 * MS), call("MPI_Finalize", 1000 * MS, 1050 * MS)]}
        for begin in (800, 0)
    ]
    path = write_run(tmp_path, ranks)
    assert main(["limits", "--quick", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    outside = "outside the replay: 150 ms (14.3 %) of the 1.05 s as measured."
    assert f"{outside} MPI_Init and MPI_Finalize take 150 ms of it on each rank." in said
    assert "the rest is" not in said


def test_ranks_that_share_cpus_limit_a_run():
    """4 ranks on 2 CPUs: the verdict begins with what the replay, that gives each its own, does not have."""
    found = limits(exchange(), IDEAL, Team())
    shared = CpuSharing((Sharing("n0", 4, 2),))
    words = said_of(
        LimitsReport("run.h5", 30 * MS, IDEAL, MachineOrigin.RUN, Eager(None, "calls"), found, None, cpus=shared)
    )
    assert words.startswith("The largest part of the run is outside the replay: 20.0 ms (66.7 %)")
    assert "the rest is waiting for a CPU (the replay gives each rank its own)" in words
    assert "4 ranks share 2 CPUs of n0" in words


def test_parts_of_a_measured_network():
    """Its smallest message is the latency, what others cost more the bandwidth; within a node the same."""
    pieces = (CostPiece(0, 100, 0, 2000, 1, 300, 0.5), CostPiece(4096, 200, 0, 5000, 2, 0, 2))
    for machine in (
        replace(IDEAL, networks=(Network(pieces=pieces),)),
        replace(IDEAL, node=Node(cpus=2, intra=pieces), networks=(Network(),)),
    ):
        found = limits(exchange((0, 0), 8192), machine, Team())
        assert [s.end_ns for s in found.scenarios] == [0, 2100, 3100 + 16384, 5200 + 16384, 5200 + 16384]
        assert only(machine, latency=True, bandwidth=True) == machine


def test_what_a_run_bears():
    """10 ms + L, or + 1 MB / BW, is 5 % longer at 0.5 ms and 2000 MB/s; of 8 messages of 1/8 ms each over n buses,
    ceil(8 / n) / 8 ms may be 0.60 ms: 4 rounds, 2 buses."""
    found = tolerance(exchange(), IDEAL, Team())
    assert found.latency_s == pytest.approx(0.5e-3, rel=0.03)
    assert found.bandwidth == pytest.approx(2000 * MB, rel=0.03)
    assert found.buses is None
    eight = exchange((10,) * 8, MB // 8)
    machine = vary(IDEAL, {"bandwidth": 1000 * MB, "buses": 1})
    assert simulate(eight, machine).end_ns == 11 * MS
    assert tolerance(eight, machine, Team()).buses == 2
    alone = Program.from_streams([operations({"kind": OperationKind.NONE, "burst": MS})])
    assert tolerance(alone, machine, Team()) == tolerance(alone, IDEAL, Team())
    assert vars(tolerance(alone, IDEAL, Team())) == {"latency_s": None, "bandwidth": None, "buses": None}


@pytest.mark.parametrize("program", [exchange(), exchange((3, 900), MB // 7), exchange((500, 20), 9), chain()])
@pytest.mark.parametrize("machine", [IDEAL, vary(IDEAL, {"latency": 1e-5, "bandwidth": 1e9})])
def test_a_run_bears_the_same_however_many_replays_are_made_at_once(program, machine):
    """The search takes the same steps, also where it tries them ahead."""
    alone = tolerance(program, machine, Team(), 1)
    assert alone.latency_s or alone.bandwidth
    for jobs in (3, 16):
        assert tolerance(program, machine, Team(), jobs) == alone
    assert by_team(3, lambda team: tolerance(program, machine, team, 3)) == [alone] * 3


def test_steps_are_made_ahead(monkeypatch):
    """Many replays at once take less time: rounds of them."""
    rounds = []

    def noted(cases, team, jobs):
        rounds.append(jobs)
        return end_times(cases, team, jobs)

    monkeypatch.setattr(tolerance_module, "end_times", noted)
    for jobs in (1, 16):
        tolerance(exchange(), IDEAL, Team(), jobs)
    assert rounds.count(16) < 0.6 * rounds.count(1)


needs_epoch = pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not here")
NETWORK = ["--latency", "50us", "--bandwidth", "200MB/s", "--buses", "2", "--eager-limit", "32k"]


@needs_epoch
def test_the_command(capsys):
    """The ideal time is Dimemas's; the whole is that of `analyze replay`; of two runs the speedup."""
    two = EPOCH / "epoch_2proc.prv.gz"
    assert main(["limits", str(two), str(FOUR), *NETWORK, "--quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["replay", str(FOUR), *NETWORK, "--json"]) == 0
    replayed = json.loads(capsys.readouterr().out)["predicted_s"]
    scenarios = [run["scenarios"] for run in found]
    assert (scenarios[1][0]["predicted_s"], scenarios[1][4]["predicted_s"]) == (6.051059081, replayed)
    for few, many in zip(*scenarios, strict=True):
        assert (few["speedup"], many["speedup"]) == (1, pytest.approx(few["predicted_s"] / many["predicted_s"]))
    assert found[1]["computation_s"] + sum(p["time_s"] for p in found[1]["losses"]) == pytest.approx(replayed, abs=2e-9)


@needs_epoch
def test_what_the_command_prints(capsys):
    assert main(["limits", str(FOUR), *NETWORK]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Machine: latency 50.0 us, bandwidth 200 MiB/s, buses 2" in said
    assert "ideal 6.05 s 97.9 % latency 6.16 s" in said
    assert "The run is limited by computation: 5.92 s (92.6 %) of 6.40 s." in said
    assert "2 messages at a time are enough" in said
    assert "4 ranks, 6.08 s as measured; replayed below with bursts in wall-clock time" in said


def test_what_was_not_recorded_is_said(tmp_path, capsys):
    """A rank whose file is lost."""
    path = write_run(tmp_path, [{"calls": [call("MPI_Comm_rank", 10**6, 10**6 + 5)]}] * 2, missing=[1])
    network = ["--latency", "5us", "--bandwidth", "1GB/s"]
    for command in ("limits", "sensitivity"):
        assert main([command, str(path), *network]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "This is not a replay of the whole run: rank 1 could not be read." in said


def test_replays_are_counted():
    """Each replay is told, in order, and none outside."""
    program, told = (
        Program.from_streams([operations({"kind": OperationKind.NONE, "burst": 5, "flags": OperationFlag.FIRST})]),
        [],
    )
    with counted(told.append):
        end_times([(program, Machine.ideal())] * 3, Team(), jobs=2)
    end_times([(program, Machine.ideal())], Team())
    assert told == [1, 2, 3]


def test_processors_that_a_machine_does_not_count_are_no_number():
    """A node without `cpus` has one for each thread, not none."""
    cpus = PARAMETERS["cpus"]
    texts = [value_text(cpus, cpus.get(machine)) for machine in (Machine(), Machine(node=Node(cpus=2)))]
    assert texts == ["one for each thread", "2"]
