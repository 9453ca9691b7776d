"""The factors behind parallel efficiency: planted imbalance, waiting and transfer, published figures, several runs."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from column_trace import ColumnTrace
from counted import block
from marked import LABELS, begin, end
from memory_trace import MemoryTrace
from paths import EPOCH
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.efficiency.analysis import compare, efficiencies
from analyzer.efficiency.factors import AdditiveEfficiency, as_published
from analyzer.efficiency.scaling import STRONG, WEAK, ComputingWork, kind_of_scaling, scaling
from analyzer.metrics.counters import useful_counts
from analyzer.parallel import Team
from analyzer.trace import EVENT, STATE, Leftovers, Losses, Origin, State, Unpaired

ONE = Team()
INS, CYC = 42000050, 42000059

PUBLISHED = {
    "Parallel efficiency": ("parallel_efficiency", 100),
    "Load balance": ("load_balance", 100),
    "Communication efficiency": ("communication_efficiency", 100),
    "Serialization efficiency": ("serialization_efficiency", 100),
    "Transfer efficiency": ("transfer_efficiency", 100),
    "Computation scalability": ("computation_scalability", 100),
    "Global efficiency": ("global_efficiency", 100),
    "IPC scalability": ("ipc_scalability", 100),
    "Instruction scalability": ("instruction_scalability", 100),
    "Frequency scalability": ("frequency_scalability", 100),
    "Speedup": ("speedup", 1),
    "Average IPC": ("ipc", 1),
    "Average frequency (GHz)": ("frequency_ghz", 1),
    "#Runtime (ideal)": ("ideal_runtime_s", 1e6),
    "#Useful duration (total)": ("useful_s", 1e6),
    "#Useful duration (ideal, max)": ("ideal_useful_max_s", 1e6),
    "#Useful instructions (total)": ("useful_instructions", 1),
}


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not here")
def test_published_figures_to_the_printed_digit(capsys):
    """In any order of the files: the smallest is what the others are relative to."""
    found = as_json(capsys, *(EPOCH / f"epoch_{n}proc.prv.gz" for n in (4, 1, 2)))
    assert {run["scaling"] for run in found} == {"strong"}
    with (EPOCH / "expected.csv").open() as file:
        head, *rows = csv.reader(file, delimiter=";")
    compared = 0
    for run in found:
        for name, *values in rows:
            if name in PUBLISHED:
                key, unit = PUBLISHED[name]
                printed = values[head.index(str(run["ranks"])) - 1]
                assert f"{run[key] * unit:.{len(printed.partition('.')[2])}f}" == printed, (run["ranks"], name)
                compared += 1
    assert compared == 3 * len(PUBLISHED)


def as_json(capsys, *arguments):
    assert main(["efficiency", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def factors(trace, **options):
    return efficiencies(trace, ONE, **options).efficiency


def barrier(enter, leave):
    return ("MPI_Barrier", enter, leave, {"comm": 0})


def test_planted_transfer():
    """Both compute 80 of 100 ns evenly, and the barriers take 10 each: all is transfer."""
    e = factors(MemoryTrace([[barrier(40, 50), barrier(90, 100)]] * 2))
    assert (e.load_balance, e.serialization_efficiency, e.ideal.runtime_ns) == (1, 1, 80)
    assert (e.transfer_efficiency, e.real_communication_efficiency, e.micro_load_balance) == (0.8, 0.8, 1)


def test_planted_serialization():
    """They take turns, 10 and 50 ns: the barriers cost nothing, and even an ideal network leaves the waiting."""
    turns = [barrier(10, 50), barrier(100, 100)], [barrier(50, 50), barrier(60, 100)]
    e = factors(MemoryTrace(turns))
    assert (e.load_balance, e.transfer_efficiency, e.ideal.runtime_ns) == (1, 1, 100)
    assert (e.serialization_efficiency, e.micro_load_balance, e.real_communication_efficiency) == (0.6, 0.6, 1)


def test_planted_imbalance():
    """Rank 1 computes half as long, nothing else is wrong."""
    e = factors(MemoryTrace([[barrier(100, 100)], [barrier(50, 100)]]))
    assert (e.parallel_efficiency, e.load_balance) == (0.75, 0.75)
    assert (e.serialization_efficiency, e.transfer_efficiency) == (1, 1)


def test_all_at_once_in_both_forms():
    """T = 200: rank 0 computes 60 + 40, rank 1 20 + 100; in the replay they meet at 60, and end at 160."""
    trace = MemoryTrace([[barrier(60, 80), barrier(120, 200)], [barrier(20, 80), barrier(180, 200)]])
    e = factors(trace)
    assert (e.useful_mean_ns, e.useful_max_ns, e.runtime_ns, e.ideal.runtime_ns) == (110, 120, 200, 160)
    names = ("parallel", "load_balance", "communication", "serialization", "transfer")
    names = [name if name == "load_balance" else f"{name}_efficiency" for name in names]
    assert [getattr(e, n) for n in names] == pytest.approx([110 / 200, 110 / 120, 120 / 200, 120 / 160, 160 / 200])
    assert e.load_balance * e.communication_efficiency == pytest.approx(e.parallel_efficiency)
    assert e.serialization_efficiency * e.transfer_efficiency == pytest.approx(e.communication_efficiency)
    assert e.micro_load_balance * e.real_communication_efficiency == pytest.approx(e.communication_efficiency)
    added = [getattr(AdditiveEfficiency(e), n) for n in names]
    assert added == pytest.approx([110 / 200, 1 - 10 / 200, 120 / 200, 1 - 40 / 200, 1 - 40 / 200])
    parallel, balance, communication, serialization, transfer = (1 - value for value in added)
    assert parallel == pytest.approx(balance + communication)
    assert communication == pytest.approx(serialization + transfer)


def test_eager_limit():
    """Rank 0 sends 1000 bytes at 10 to rank 1, who asks at 50: a large message waits for it, a small one does not."""
    send = {"peer": 1, "tag": 3, "sent": 1000, "comm": 0}
    receive = {"peer": 0, "tag": 3, "received": 1000, "comm": 0}
    calls = [[("MPI_Send", 10, 50, send), barrier(90, 90)], [("MPI_Recv", 50, 50, receive), barrier(50, 90)]]
    messages = [(0, 1, 1000, 3, 10, 50)]
    for limit, runtime in ((1000, 90), (1001, 50)):
        assert factors(MemoryTrace(calls, messages=messages), eager_limit=limit).ideal.runtime_ns == runtime


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((Losses, {"missing": (1,)}), "rank 1 could not be read"),
        ((Origin, {"applications": (1, 1)}), "the trace holds several applications"),
        ((Losses, {"lost_calls": lambda rank: rank}), "calls of rank 1 were lost"),
        ((Losses, {"dropped_calls": lambda rank: 1}), "part of the run was not recorded"),
        (
            (Leftovers, {"unpaired": lambda: Unpaired(1, 20, 100)}),
            "1 send and 20 receives have no other side in the trace",
        ),
        ((Leftovers, {"not_recorded": lambda: 1}), "part of the run was not recorded"),
    ],
)
def test_where_nothing_can_be_replayed(change, reason):
    trace = MemoryTrace([[barrier(40, 50)]] * 2)
    part, changed = change[0](), change[1]
    vars(part).update(changed)
    if isinstance(part, Origin):
        trace.origin = part
    else:
        trace.put(part)
    e = factors(trace)
    assert e.parallel_efficiency is not None
    assert e.ideal.reason == reason
    replayed = (e.serialization_efficiency, e.transfer_efficiency, e.micro_load_balance)
    assert (*replayed, e.real_communication_efficiency, AdditiveEfficiency(e).serialization_efficiency) == (None,) * 5


def test_threads_that_call_mpi():
    calls = [[("MPI_Recv", 10, 20, {"thread": 0}), ("MPI_Send", 15, 18, {"thread": 1})]]
    states = [(0, 10, 0, 0, 1), (0, 15, 0, 1, 1)]
    trace = MemoryTrace(calls, states=states)
    trace.threads = np.array([2])
    assert factors(trace).ideal.reason == "several threads of rank 0 communicate"


def test_no_room_for_a_long_run(monkeypatch):
    monkeypatch.setattr("analyzer.program.storage.IN_MEMORY", 0)
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Path("/dev/full").open("wb+"))  # noqa: SIM115
    e = factors(MemoryTrace([[barrier(40, 50)]] * 2))
    assert e.ideal.reason == "temporary files cannot be written (No space left on device)"


def test_memory_of_a_long_run_is_given_back(monkeypatch):
    """The operations of a mapped file are the same, however often they leave memory."""
    calls = [[barrier(t, t + 1 + rank % 2) for t in range(10, 60_000, 10)] for rank in range(2)]
    short = factors(MemoryTrace(calls)).ideal
    monkeypatch.setattr("analyzer.program.storage.IN_MEMORY", 100)
    long = factors(MemoryTrace(calls)).ideal
    assert (long.runtime_ns, long.useful_ns) == (short.runtime_ns, short.useful_ns)
    assert short.useful_ns == 10 + 5998 * 9


def test_times_as_published():
    """In hundredths of a microsecond, rounded as C prints them."""
    assert [as_published(ns) for ns in (11528373565, 11528373566, 1_000_000_004)] == [11528373560, 11528373570, 10**9]
    assert as_published(999_999_999) == 999_999_999


def test_a_rank_that_was_killed_before_the_others_met(tmp_path, capsys):
    ranks = [{"calls": [call("MPI_Barrier", 10, 50, comm=1)]}, {"calls": [call("MPI_Comm_rank", 5, 6, comm=1)]}]
    run = write_run(tmp_path, ranks)
    found = as_json(capsys, run)
    assert found["not_replayed"].startswith("the replay cannot go on, all ranks wait: rank 0 in MPI_Barrier")
    assert found["serialization_efficiency"] is None
    for command in ("info", "efficiency"):
        assert main([command, str(run)]) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert text.count("Serialization and transfer are not known: the replay cannot go on") == 1


def counted(*rows, size=1, **options):
    """Events (time, thread, instructions, cycles) of a thread that is Running from 0 to 100 and from 130 to 200."""
    kinds = (INS, CYC)
    events = [(at, value, kind, 0, t, 0) for at, t, *both in rows for value, kind in zip(both, kinds, strict=True)]
    states = [(0, 100, 0, 0, State.RUNNING, 0), (100, 130, 0, 0, State.OTHERS, 0), (130, 200, 0, 0, State.RUNNING, 0)]
    labels = {INS: ("PAPI_TOT_INS", {}), CYC: ("PAPI_TOT_CYC", {})}
    return ColumnTrace(np.array(states, STATE), np.array(events, EVENT), [], size, **{"event_labels": labels} | options)


def sums_of(counts):
    """Instructions, cycles, and ns of computation in which both were counted."""
    return counts.instructions, counts.cycles, counts.time_ns


@pytest.mark.parametrize("window", [None, 1, 7, 30, 100])
def test_only_what_was_counted_in_computation_is_useful(window):
    """In the call (100 to 130), and at the second event of one time, nothing useful was counted."""
    rows = [(40, 0, 5, 6), (100, 0, 10, 20), (130, 0, 1000, 1000), (200, 0, 7, 9), (200, 0, 500, 500)]
    assert sums_of(useful_counts(counted(*rows, window=window), ONE)) == (22, 35, 170)
    late = counted(*rows[1:4], window=window)
    assert sums_of(useful_counts(late, ONE)) == (17, 29, 170)


def test_counters_that_are_not_counted_together_give_nothing():
    trace = counted((100, 0, 10, 20))
    trace.events_table = trace.events_table[trace.events_table["type"] == INS]
    counts = useful_counts(trace, ONE)
    assert (counts.ipc, counts.frequency_ghz) == (None, None)
    named = counted((100, 0, 10, 20), event_labels={50000001: ("MPI", {})})
    assert useful_counts(named, ONE).ipc is None
    ours = {INS: ("PAPI_TOT_INS", {}), CYC: ("PAPI_TOT_CYC [Total cycles]", {})}
    assert useful_counts(counted((100, 0, 10, 20), event_labels=ours), ONE).ipc == 0.5


SETS = [(1, 0, INS, 4, b"PAPI_TOT_INS"), (1, 1, CYC, 4, b"PAPI_TOT_CYC")]


def test_counters_of_our_own_runs(tmp_path, capsys):
    """Counted between the calls: 400 instructions in 200 cycles and 100 ns; nothing before the first call."""
    readings = [10, 20, 12, 25, 412, 225, 420, 240]
    calls = [call("MPI_Init", 100, 200), call("MPI_Finalize", 300, 400)]
    run = write_run(tmp_path, [{"calls": calls, "counters": SETS, "counts": readings, "blocks": block(2, 8, set=1)}])
    found = as_json(capsys, run)
    assert (found["ipc"], found["frequency_ghz"]) == (2, 2)
    assert found["useful_instructions"] == 400 * 2  # as if the 100 ns before MPI_Init were like these


def amount(threads, useful, instructions=None, runtime=100, ipc=None, ghz=None, parallel=0.5):
    return ComputingWork(threads, runtime, useful, parallel, ipc, ghz, instructions)


def test_scaling_by_hand():
    """Four times as many threads: 25 % more instructions, IPC 2 to 1.6, 2 to 2.5 GHz."""
    small, large = amount(1, 1000, 4000, 1000, 2, 2), amount(4, 1250, 5000, 400, 1.6, 2.5)
    s = scaling(large, small, STRONG)
    assert (s.computation_scalability, s.speedup, s.global_efficiency) == (0.8, 2.5, 0.4)
    assert (s.ipc_scalability, s.instruction_scalability, s.frequency_scalability) == (0.8, 0.8, 1.25)
    product = s.ipc_scalability * s.instruction_scalability * s.frequency_scalability
    assert product == pytest.approx(s.computation_scalability)
    weak = scaling(amount(4, 4000, 16000, 1000, 2, 2), small, WEAK)
    assert (weak.computation_scalability, weak.instruction_scalability, weak.speedup) == (1, 1, 4)
    assert vars(scaling(small, small, STRONG))["ipc_scalability"] == 1


@pytest.mark.parametrize(
    ("runs", "kind"),
    [
        ([amount(2, 100), amount(8, 110)], STRONG),
        ([amount(2, 100), amount(8, 390), amount(4, 200)], WEAK),
        ([amount(2, 100), amount(8, 390, 80)], WEAK),
        ([amount(2, 0), amount(8, 390)], STRONG),
        ([amount(2, 100), amount(8, 0)], STRONG),
        ([amount(2, 100, 80), amount(8, 390, 90)], STRONG),
        ([amount(2, 100), amount(2, 500)], STRONG),
    ],
)
def test_strong_or_weak_as_the_work_says(runs, kind):
    assert kind_of_scaling(runs) == kind


def test_without_counters_nothing_is_made_up():
    two = MemoryTrace([[barrier(100, 120)], [barrier(110, 120)]])
    four = MemoryTrace([[barrier(60, 80)]] * 4)
    runs = [efficiencies(trace, ONE) for trace in (four, two)]
    compared = compare(runs)
    assert (compared.reference, compared.kind) == (1, STRONG)
    s = compared.wholes[0]
    assert (s.computation_scalability, s.speedup) == pytest.approx((210 / 240, 120 / 80))
    assert s.global_efficiency == pytest.approx(60 / 80 * 210 / 240)
    assert (s.ipc_scalability, s.instruction_scalability, s.frequency_scalability) == (None,) * 3
    assert set(vars(compare(runs[:1]).wholes[0]).values()) == {None}
    assert compare(runs, WEAK).wholes[0].speedup == 3


@pytest.fixture
def regions(tmp_path):
    """solve, twice: the ranks take turns; exchange: only its barrier takes time."""

    def rank(first, second):
        events = [begin(0, 1), end(100, 1), begin(100, 2), end(200, 2), begin(200, 1), end(300, 1)]
        calls = [first, second, call("MPI_Barrier", 150, 200, comm=1), call("MPI_Barrier", 300, 300, comm=1)]
        return {"labels": LABELS, "events": events, "calls": calls}

    zero = call("MPI_Barrier", 40, 40, comm=1), call("MPI_Barrier", 40, 100, comm=1)
    one = call("MPI_Barrier", 0, 40, comm=1), call("MPI_Barrier", 100, 100, comm=1)
    return write_run(tmp_path, [rank(*zero), rank(*one)])


def test_regions_are_replayed(regions, capsys):
    found = as_json(capsys, regions, "--by", "region", "--region", "solve")
    by_name = {one["name"]: one for one in found["regions"]}
    exchange, solve = by_name["exchange"], by_name["solve"]
    assert (exchange["serialization_efficiency"], exchange["transfer_efficiency"]) == (1, 0.5)
    assert (solve["serialization_efficiency"], solve["transfer_efficiency"]) == pytest.approx((160 / 200, 1))
    assert solve["ideal_runtime_s"] == 200e-9
    first, second = found["visits"]
    assert (first["serialization_efficiency"], second["serialization_efficiency"]) == (0.6, 1)
    assert {one["computation_scalability"] for one in (solve, first)} == {None}
    twice = as_json(capsys, regions, regions, "--region", "solve")
    assert [one["regions"][0]["computation_scalability"] for one in twice] == [1, 1]
    assert [visit["global_efficiency"] for visit in twice[1]["visits"]] == pytest.approx([0.5, 1])


def test_unknown_size(regions, capsys):
    assert main(["efficiency", str(regions), "--eager-limit", "32Q"]) == 2
    assert "is not a size such as" in capsys.readouterr().err
