"""Parts of the thesis's tables 8, 19, 21 and 22 that can be recomputed, and the indices of its scheduling studies."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.loggp.line_fit import fit_line
from analyzer.machine.description import Machine, Network, Node
from analyzer.machine.policies import policy_of
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay.simulate import simulate
from analyzer.scheduling import sharing
from analyzer.scheduling.ring import RingProgram
from analyzer.scheduling.sharing import closed

TABLE_8 = (  # bytes, sum of 128 measurements (s), average as printed
    (0, 0.002896077, "0.000023"), (1, 0.003044482, "0.000024"), (2, 0.003024237, "0.000024"),
    (4, 0.002309194, "0.000018"), (8, 0.002327217, "0.000018"), (16, 0.002348785, "0.000018"),
    (32, 0.002467115, "0.000019"), (64, 0.002684582, "0.000021"), (128, 0.003554742, "0.000028"),
    (256, 0.003944063, "0.000031"), (512, 0.004625256, "0.000036"), (1024, 0.004112000, "0.000032"),
    (2048, 0.005346608, "0.000042"), (4096, 0.008004908, "0.000063"), (8192, 0.016106396, "0.000126"),
    (16384, 0.028667020, "0.000224"), (32768, 0.055859816, "0.000436"), (65536, 0.104688040, "0.000818"),
    (131072, 0.189579208, "0.001481"), (262144, 0.388594132, "0.003036"), (524288, 0.807166692, "0.006306"),
    (1048576, 1.468302348, "0.011471"),
)  # fmt: skip
COUNT = 128
MB = 1 << 20


def line_of(rows):
    sizes, times = np.array([size for size, *_ in rows]), np.array([whole / COUNT for _, whole, _ in rows])
    return fit_line(sizes, times, np.ones(len(rows)), np.zeros(len(rows)))


def test_table_8_averages():
    assert [f"{whole / COUNT:.6f}" for _, whole, _ in TABLE_8] == [average for *_, average in TABLE_8]


@pytest.mark.parametrize(
    "largest, latency_us, mb_s, printed", [(2**20, 44.07, 85.75, (44, 85.74)), (1024, 21.77, 64.03, (22, 64))]
)
def test_table_8_fit(largest, latency_us, mb_s, printed):
    """Least squares on the averages: 44 us and 85.74 MB/s for all sizes, 22 us and 64 MB/s up to 1024 bytes."""
    line = line_of([row for row in TABLE_8 if row[0] <= largest])
    found = (line.start - line.slope) * 1e6, 1 / line.slope / MB
    assert found == pytest.approx((latency_us, mb_s), abs=0.005)
    assert found == pytest.approx(printed, rel=0.012)


def test_a_ping_pong_on_the_fitted_machine_takes_the_fitted_time():
    """F5 and F6: half a round trip is L + S/BW, for every size of the table."""
    line = line_of(TABLE_8)
    node = Node(latency_s=line.start - line.slope)
    machine = Machine(node=node, networks=(Network(1 / line.slope / MB),), dialect="thesis")
    for size, *_ in TABLE_8:
        ping = operations(
            {"kind": OperationKind.SEND, "peer": 1, "bytes": size},
            {"kind": OperationKind.RECV, "peer": 1, "bytes": size},
        )
        pong = operations(
            {"kind": OperationKind.RECV, "peer": 0, "bytes": size},
            {"kind": OperationKind.SEND, "peer": 0, "bytes": size},
        )
        end = simulate(Program.from_streams([np.tile(ping, 10), np.tile(pong, 10)]), machine).end_ns
        assert end / 20 / 1e9 == pytest.approx(float(line(np.array(size))), abs=1e-9)


TABLE_19 = {  # messages, then (time, mess/s) on the NOW and on the HPC
    "FFT4": (48, (42.387596, 1.13), (5.794899, 8.28)), "FFT8": (105, (9.161998, 11.46), (3.269270, 32.12)),
    "IS4": (121, (139.025563, 0.87), (25.586458, 4.74)), "IS8": (243, (20.815442, 11.68), (17.806472, 13.65)),
    "LU5": (5290, (15.730039, 336.30), (8.791915, 601.69)), "LU9": (5330, (13.873308, 384.17), (6.393461, 833.63)),
    "MG4": (316, (6.522070, 48.49), (1.915991, 165.06)), "MG8": (164, (2.102434, 77.89), (1.233535, 132.75)),
}  # fmt: skip
TABLE_21 = {  # speed kept with 8 tasks on the NOW without bus conflict: FIFO, RR
    "B1": {"FFT8": (0.265, 0.704), "IS8": (0.892, 0.508), "LU9": (0.131, 0.459)},
    "B2": {"FFT8": (0.268, 0.703), "IS8": (0.913, 0.501), "MG8": (0.120, 0.508)},
    "B3": {"FFT8": (0.730, 0.732), "LU9": (0.459, 0.420), "MG8": (0.360, 0.520)},
    "B4": {"IS8": (0.912, 0.457), "LU9": (0.146, 0.435), "MG8": (0.113, 0.486)},
}
TABLE_22 = {  # jobs/s: FIFO, RR; the column of batch does not follow from the times, and is computed here
    "B1": (0.081306, 0.134448, 0.068414), "B2": (0.130561, 0.342844, 0.093517),
    "B3": (0.284145, 0.357830, 0.119342), "B4": (0.108203, 0.284697, 0.081541),
}  # fmt: skip


def test_table_19_rates():
    for messages, *machines in TABLE_19.values():
        for time, rate in machines:
            assert messages / time == pytest.approx(rate, rel=0.003)


@pytest.mark.parametrize("load", TABLE_22)
def test_table_22_follows_from_table_21(load):
    """F17 from F18 and the times alone, within 0.3 %; F16; and sharing beats batch, as the study says."""
    alone = [TABLE_19[name][1][0] for name in TABLE_21[load]]
    for policy in (0, 1):
        kept = [pair[policy] for pair in TABLE_21[load].values()]
        together = (np.array(alone) / kept).tolist()
        assert sharing.shared_throughput(together) == pytest.approx(TABLE_22[load][policy], rel=0.003)
        assert sharing.speeds(alone, together).tolist() == pytest.approx(kept)
        assert sharing.shared_throughput(together) > sharing.batch_throughput(alone)
    assert sharing.batch_throughput(alone) == pytest.approx(TABLE_22[load][2], abs=1e-6)


def test_table_21_is_fair_with_rr_only():
    """Each of three keeps a third with RR, 0.42 at least; with FIFO that is so in the load without IS only."""
    rr = {load: [pair[1] for pair in rows.values()] for load, rows in TABLE_21.items()}
    fifo = {load: [pair[0] for pair in rows.values()] for load, rows in TABLE_21.items()}
    assert all(map(sharing.is_fair, rr.values())) and min(map(min, rr.values())) == 0.42
    assert [load for load, kept in fifo.items() if sharing.is_fair(kept)] == ["B3"]


times = st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(1, 50)), min_size=2, max_size=6)


@given(times)
def test_indices_agree(rows):
    """F14 is F13; stretches are the reciprocals of speeds; nobody loses, nothing lost; order does not matter."""
    alone, stretch = zip(*rows, strict=True)
    together = [a * s for a, s in rows]
    kept = sharing.speeds(alone, together).tolist()
    assert sharing.gain_by_repetition(alone, together) == pytest.approx(sharing.gain_over_batch(kept))
    assert sharing.stretches(together, alone).tolist() == pytest.approx(stretch)
    assert (
        sharing.stretch_ratio(stretch) == pytest.approx(max(kept) / min(kept)) and sharing.stretch_ratio(stretch) >= 1
    )
    assert sharing.spread_of_speeds(kept) == pytest.approx(float(np.sqrt(np.var(kept) * len(kept) / (len(kept) - 1))))
    assert sharing.gain_over_batch(sharing.speeds(alone, alone).tolist()) == len(rows)


def test_indices_by_hand():
    """Alone 1 and 3 s, together 2 and 4: speeds 1/2 and 3/4, stretches 2 and 4/3."""
    alone, together = [1.0, 3.0], [2.0, 4.0]
    kept = sharing.speeds(alone, together).tolist()
    assert kept == [0.5, 0.75] and sharing.gain_over_batch(kept) == 1.25 and sharing.is_fair(kept)
    assert sharing.stretch_ratio(sharing.stretches(together, alone).tolist()) == pytest.approx(1.5)
    assert (sharing.batch_throughput(alone), sharing.shared_throughput(together)) == (0.5, 0.75)
    assert sharing.spread_of_speeds(kept) == pytest.approx(0.125 * np.sqrt(2))
    assert not sharing.is_fair([0.49, 0.9])


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(1, 50), st.integers(0, 400))
def test_round_robin_wait_is_bounded(others, slice_us, sent_us):
    """F20: whose message has arrived waits for quantum x (processes - 1) at most, among others that only compute."""
    busy = operations({"kind": OperationKind.NONE, "burst": 10**7})
    waits = operations({"kind": OperationKind.RECV, "peer": 0}, {"kind": OperationKind.NONE})
    sends = operations({"kind": OperationKind.SEND, "peer": 1, "burst": sent_us * 1000})
    program = Program.from_streams([sends, waits, *[busy] * others])
    scheduling = policy_of({"policy": "rr", "slice_us": slice_us})
    machine = Machine(nodes=(Node(), Node()), mapping=(0, *[1] * (others + 1)), scheduling=scheduling)
    wait = simulate(program, machine).usage["wait_cpu"][1]
    assert wait <= round(sharing.longest_wait(slice_us * 1000, others + 1))


def test_a_closed_system(tmp_path, capsys):
    """Two equal rings of 100 % on the same processors: each keeps half of its speed, and nothing is gained."""
    machine = Machine(nodes=(Node(),) * 4, mapping="round-robin", scheduling=policy_of({"policy": "rr"}))
    program = RingProgram(4200, 100, 4, 200).program()
    found = closed([program] * 2, machine, simulate([program] * 2, machine, repetitions=3))
    assert found.speeds == pytest.approx([0.5, 0.5], rel=0.02) and found.gain == pytest.approx(1, rel=0.02)
    assert found.alone == pytest.approx([200 * 4 * 4.2e-3 + 3 * 4.2e-3] * 2)
    assert found.ratio == pytest.approx(1, rel=0.02) and min(found.runs) == 3
    both = replace(found, together=found.alone)
    assert both.fair and both.shared_throughput == pytest.approx(2 * both.batch_throughput)

    assert main(["ring", "--tasks", "4", "--iterations", "20", "-o", str(tmp_path / "r.dim"), "-q"]) == 0
    arguments = ["replay", str(tmp_path / "r.dim"), "--app", str(tmp_path / "r.dim"), "--repeat", "2", "--cpus", "2"]
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["closed"]
    assert told["speeds"] == [1, 1] and told["gain"] == 2 and told["fair"]
    assert main(arguments) == 0
    assert "Fair: each keeps at least 1/2 of its speed" in capsys.readouterr().out
