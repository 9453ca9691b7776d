"""Packed operations equal the original ones, and are replayed like an array's, from memory and from a file.

The memory of a replay depends on the operations in flight.
"""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ROOT

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.machine.description import Machine, Network, Node
from analyzer.opening import open_trace
from analyzer.program import model as program_streams
from analyzer.program import storage as spill
from analyzer.program.model import Program, pieces, rewritten, rewritten_together
from analyzer.program.operation import OP, OperationFlag, OperationKind, operations
from analyzer.program.storage import OperationSpill, PackedOperations, packed
from analyzer.replay.section import section_of
from analyzer.replay.simulate import simulate
from benchmarks.halo import write_halo

RANKS = 4
LINKS = Machine(node=Node(latency_s=1e-6, links_in=1, links_out=1), networks=(Network(100),))
BLOCK = spill.lib.PACK_BLOCK


def ring(steps, ranks=RANKS):
    """Return a program in which each rank sends to the next one, after bursts of random length."""
    random, streams = np.random.default_rng(2), []
    for rank in range(ranks):
        one = operations(
            {"kind": OperationKind.IRECV, "peer": (rank - 1) % ranks, "request": 0, "bytes": 4096},
            {"kind": OperationKind.SEND, "peer": (rank + 1) % ranks, "bytes": 4096, "flags": OperationFlag.IMMEDIATE},
            {"kind": OperationKind.WAIT, "request": 0},
        )
        stream = np.tile(one, steps)
        stream["burst"][::3] = random.integers(1000, 100_000, steps)
        streams.append(stream)
    return Program.from_streams(streams)


@pytest.fixture(params=["memory", "file"])
def stored(request, monkeypatch):
    """Puts the operations of a program into memory or a file, packed."""
    monkeypatch.setattr(spill, "IN_MEMORY", 1 << 24 if request.param == "memory" else 0)
    return in_packed_form


def in_packed_form(program):
    return replace(program, ops=packed(program.ops))


def found(program, **how):
    prediction = simulate(program, LINKS, times=True, transfers=True, **how)
    return [getattr(prediction, name).tolist() for name in ("times", "transfers", "usage", "runs")]


def any_number(name):
    limits = np.iinfo(OP[name])
    near = [x for x in (0, 1, -1, 127, 128, limits.max, limits.max - 1, limits.min) if limits.min <= x <= limits.max]
    return st.sampled_from(near) | st.integers(int(limits.min), int(limits.max))


ANY = st.lists(st.tuples(*map(any_number, OP.names)), max_size=40)


@settings(max_examples=100)
@given(ANY, st.lists(st.integers(0, 39), max_size=300), st.integers(1, 7))
def test_what_was_packed_comes_out_again(rows, order, parts):
    """All fields of any value, each operation once or often, appended in any parts."""
    different = np.array(rows, OP)
    ops = different[[k % len(rows) for k in order]] if rows else different
    into = OperationSpill()
    for part in np.array_split(ops, parts):
        into.append(part)
    assert into.packed()[:].tobytes() == ops.tobytes()


def test_any_place_can_be_read(stored):
    """More different operations than a dictionary holds, in several blocks."""
    random = np.random.default_rng(3)
    ops = np.zeros(5 * BLOCK + 17, OP)
    for name in OP.names:
        ops[name] = random.integers(0, 4, len(ops))
    ops["burst"] = random.integers(0, 1 << 62, len(ops)) >> random.integers(0, 62, len(ops))
    program = stored(Program.from_streams([ops[: BLOCK + 5], ops[BLOCK + 5 :]]))
    assert len(program.ops) == len(ops) and isinstance(program.ops, PackedOperations)
    for first, last in ((0, 1), (BLOCK - 1, BLOCK + 1), (700, 4 * BLOCK), (3 * BLOCK, 3 * BLOCK), (BLOCK, len(ops))):
        assert program.ops[first:last].tobytes() == ops[first:last].tobytes()
    for place in (0, BLOCK - 1, BLOCK, 3333, len(ops) - 1, -1):
        assert program.ops[place] == ops[place]
    with pytest.raises(IndexError):
        program.ops[len(ops)]
    assert b"".join(piece.tobytes() for piece in pieces(program)) == ops.tobytes()
    assert b"".join(piece.tobytes() for piece in pieces(program, 1)) == ops[BLOCK + 5 :].tobytes()


def test_what_repeats_takes_few_bytes():
    """A kind, a burst of three bytes: no more than five; with sizes that never repeat, no more than 16."""
    program = ring(10_000)
    assert packed(program.ops).blocks[-1] < 5 * len(program.ops)
    program.ops["bytes"] = np.random.default_rng(1).integers(0, 1 << 20, len(program.ops))
    assert packed(program.ops).blocks[-1] < 18 * len(program.ops)


def test_a_step_with_26_neighbours_takes_few_bytes():
    """78 different operations: all of them are told apart in one dictionary."""
    step = np.zeros(78, OP)
    step["kind"] = np.repeat((OperationKind.IRECV, OperationKind.SEND, OperationKind.WAIT), 26)
    step["request"] = np.where(step["kind"] == OperationKind.SEND, -1, np.arange(78) % 26)
    step["peer"], step["bytes"], step["burst"] = np.arange(78) % 26, 4096, 20
    ops = np.tile(step, 1000)
    assert packed(ops).blocks[-1] < 5 * len(ops)
    assert packed(ops)[:].tobytes() == ops.tobytes()


@pytest.mark.parametrize("repetitions", [0, 3])
def test_packed_operations_are_replayed_as_those_of_an_array(stored, repetitions):
    """More than a stream's buffer holds; streams begin anywhere in a block."""
    program = ring(20_000 if repetitions == 0 else 1500)
    assert found(stored(program), repetitions=repetitions) == found(program, repetitions=repetitions)


def test_streams_without_operations(stored):
    program = Program.from_streams(
        [np.zeros(0, OP), operations({"kind": OperationKind.NONE, "burst": 7}), np.zeros(0, OP)]
    )
    assert found(stored(program)) == found(program)
    nothing = Program.from_streams([np.zeros(0, OP)])
    assert found(stored(nothing)) == found(nothing) and len(stored(nothing).ops[:]) == 0


def test_an_error_names_the_operation(stored):
    program = ring(2000)
    program.ops["peer"][3 * 2000 + 3 * 1500] = 99
    with pytest.raises(TracelibError, match=r"operation 10500 of rank 1 names something that does not exist"):
        simulate(stored(program), LINKS)


def test_the_most_virtual_threads_are_known():
    ops = operations(
        {"kind": OperationKind.PARALLEL, "other": 3},
        {"kind": OperationKind.EVENT, "other": 9},
        {"kind": OperationKind.PARALLEL},
    )
    for program in (Program.from_streams([ops]), in_packed_form(Program.from_streams([ops]))):
        assert program.most_virtual_threads() == 3


def test_a_changed_program_is_another_one(stored):
    program = stored(ring(1000))

    def divide(stream, ops):
        ops["block"] = stream

    changed = rewritten(program, divide)
    assert changed.ops[:]["block"].tolist() == np.repeat(np.arange(RANKS), 3000).tolist()
    assert not program.ops[:]["block"].any()


@pytest.mark.parametrize("piece", [1, 7, 100])
def test_streams_that_are_changed_together_are_changed_as_one_by_one(stored, monkeypatch, piece):
    """Some are empty, some longer than what is changed at once."""
    lengths = [0, 3, 0, 5, 60, 1, 0, 2, 2, 0]
    program = Program.from_streams(
        [operations(*[{"kind": OperationKind.EVENT, "tag": k} for k in range(n)]) for n in lengths]
    )
    program, groups = stored(program), []
    monkeypatch.setattr(program_streams, "_PIECE", piece)

    def number(group, ops, cuts):
        groups.append(group)
        assert len(cuts) == len(group) + 1 and cuts[0] == 0 and cuts[-1] == len(ops)
        for stream, first, last in zip(group, cuts[:-1], cuts[1:], strict=True):
            ops["block"][first:last] = stream

    together = rewritten_together(program, number)
    alone = rewritten(program, lambda stream, ops: ops.__setitem__("block", stream))
    assert together.ops[:].tobytes() == alone.ops[:].tobytes()
    assert [stream for group in groups for stream in group] == list(range(len(lengths)))
    assert together.ops[:]["block"].tolist() == np.repeat(np.arange(len(lengths)), lengths).tolist()


def test_streams_of_many_ranks_need_few_places(monkeypatch):
    """Each rank has three operations, so no more places are needed, however many ranks share a block; the replay is
    the same."""
    monkeypatch.setattr(spill, "UNPACKED", 0)
    program = ring(50, ranks=40)
    changed = rewritten(program, lambda stream, ops: None)
    assert packed(changed.ops).places == 3 and packed(program.ops).places > 10
    changed = replace(changed, ops=packed(changed.ops))
    assert changed.ops[:].tobytes() == program.ops.tobytes()
    assert found(changed) == found(program)


def test_a_place_that_is_said_not_to_be_there_is_not_read():
    ops = packed(ring(10).ops)
    wrong = PackedOperations(ops.memory, ops.blocks, len(ops), 0, places=ops.places - 1)
    with pytest.raises(TracelibError, match="can no longer be read"):
        simulate(replace(ring(10), ops=wrong), LINKS)


def test_few_operations_are_an_array(monkeypatch):
    into, ops = OperationSpill(), ring(10).ops
    into.append(ops)
    assert isinstance(into.operations(), np.ndarray) and np.array_equal(into.operations(), ops)
    monkeypatch.setattr(spill, "UNPACKED", len(ops) - 1)
    assert isinstance(into.operations(), PackedOperations)


def test_a_file_that_became_shorter_is_said(monkeypatch):
    monkeypatch.setattr(spill, "IN_MEMORY", 0)
    program = in_packed_form(ring(50_000))
    os.truncate(program.ops.file.fileno(), int(program.ops.blocks[-1]) // 2)
    with pytest.raises(TracelibError, match="can no longer be read"):
        simulate(program, LINKS)
    with pytest.raises(TracelibError, match="can no longer be read"):
        program.ops[len(program.ops) - 1]


def test_bytes_that_are_cut_off_are_said():
    ops = packed(ring(10).ops)
    cut = PackedOperations(ops.memory, np.array([0, ops.blocks[-1] - 1]), len(ops), 0)
    with pytest.raises(TracelibError, match="can no longer be read"):
        cut[:]


GROWTH = """
import sys
from analyzer.program import storage as spill
from test_replay_stored import LINKS, in_packed_form, ring, simulate

def status(name):
    return int(next(x for x in open("/proc/self/status") if x.startswith(name)).split()[1])

spill.IN_MEMORY = 0
small, large = (in_packed_form(ring(steps)) for steps in map(int, sys.argv[1:]))
simulate(small, LINKS)
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before = status("VmRSS")
simulate(large, LINKS)
print(status("VmHWM") - before)
"""


def test_memory_does_not_grow_with_the_length_of_the_run():
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{Path(__file__).parent}:{ROOT / 'tests' / 'support'}"}
    grown = []
    for steps in (10_000, 40_000):
        words = [sys.executable, "-c", GROWTH, "10", str(steps)]
        grown.append(int(subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout))
    operations_kib = 40_000 * 3 * RANKS * OP.itemsize / 1024
    assert grown[1] < grown[0] + 1024 and grown[1] < operations_kib / 10


def test_commands_say_the_same_of_packed_operations(tmp_path, monkeypatch, capsys):
    """Commands on a run, and on the Dimemas trace that is made of it."""
    run, dim = write_halo(tmp_path, 4, 200), tmp_path / "run.dim"
    assert main(["dim", str(run), "-o", str(dim), "-q"]) == 0
    said = []
    for few in (spill.UNPACKED, -1):
        monkeypatch.setattr(spill, "UNPACKED", few)
        for file in (run, dim):
            for words in (["replay"], ["limits"], ["what-if", "--machine", "ideal", "--by", "calls"]):
                assert main([words[0], str(file), *words[1:], "--json"]) == 0
                said.append(capsys.readouterr().out)
            assert main(["replay", str(file), "-o", str(tmp_path / f"{file.suffix}{few}.prv"), "-q"]) == 0
        written = (tmp_path / f"{suffix}{few}.prv" for suffix in (".h5", ".dim"))
        said += [path.read_text().split("\n", 1)[1] for path in written]  # without the date
        section = section_of(open_trace(run))
        said.append([str(section.program.ops[:].tolist()), section.ends_ns.tolist()])
    assert said[: len(said) // 2] == said[len(said) // 2 :]
