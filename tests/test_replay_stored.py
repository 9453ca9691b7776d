"""Operations in a file are replayed as those in memory are, and what is replayed takes memory for what is in flight."""

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analyzer.errors import TracelibError
from analyzer.operations.operation import OP, Flag, Kind, Program, operations
from analyzer.operations.spill import IN_MEMORY, OperationSpill, StoredOperations
from analyzer.replay.machine import Machine, Network, Node
from analyzer.replay.simulate import simulate

RANKS = 4
LINKS = Machine(node=Node(latency_s=1e-6, links_in=1, links_out=1), networks=(Network(100),))


def ring(steps, ranks=RANKS):
    """Each rank sends to the next and receives from the one before, after bursts of random length."""
    random, streams = np.random.default_rng(2), []
    for rank in range(ranks):
        one = operations(
            {"kind": Kind.IRECV, "peer": (rank - 1) % ranks, "request": 0, "bytes": 4096},
            {"kind": Kind.SEND, "peer": (rank + 1) % ranks, "bytes": 4096, "flags": Flag.IMMEDIATE},
            {"kind": Kind.WAIT, "request": 0},
        )
        stream = np.tile(one, steps)
        stream["burst"][::3] = random.integers(1000, 100_000, steps)
        streams.append(stream)
    return Program.of(streams)


def stored(program):
    """The same, with its operations in a file."""
    file = tempfile.TemporaryFile()  # noqa: SIM115, the operations need it longer
    file.write(program.ops.tobytes())
    file.flush()
    return replace(program, ops=StoredOperations.of(file, len(program.ops)), virtual_threads=0)


def found(program, **how):
    prediction = simulate(program, LINKS, times=True, transfers=True, **how)
    return [getattr(prediction, name).tolist() for name in ("times", "transfers", "usage", "runs")]


@pytest.mark.parametrize("repetitions", [0, 3])
def test_operations_in_a_file_are_those_in_memory(repetitions):
    program = ring(1500)  # more than a stream's buffer holds
    assert found(stored(program), repetitions=repetitions) == found(program, repetitions=repetitions)


def test_streams_without_operations():
    program = Program.of([np.zeros(0, OP), operations({"kind": Kind.NONE, "burst": 7})])
    assert found(stored(program)) == found(program)


def test_a_part_of_stored_operations_is_no_file():
    ops = stored(ring(10)).ops
    assert ops.file is not None
    for part in (ops[3:], ops[:], ops.copy(), np.asarray(ops)):
        assert getattr(part, "file", None) is None


def test_many_operations_are_spilled_into_a_file():
    spill, block = OperationSpill(), ring(1000).ops
    blocks = IN_MEMORY // len(block) + 2
    for _ in range(blocks):
        spill.append(block)
    ops = spill.array()
    assert isinstance(ops, StoredOperations) and ops.tobytes() == blocks * block.tobytes()


def test_a_file_that_became_shorter_is_said():
    program = stored(ring(3000))
    os.truncate(program.ops.file.fileno(), len(program.ops) * OP.itemsize // 2)
    with pytest.raises(TracelibError, match="can no longer be read"):
        simulate(program, LINKS)


GROWTH = """
import sys
from test_replay_stored import LINKS, ring, stored, simulate

def status(name):
    return int(next(x for x in open("/proc/self/status") if x.startswith(name)).split()[1])

small, large = (stored(ring(steps)) for steps in map(int, sys.argv[1:]))
simulate(small, LINKS)
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before = status("VmRSS")
simulate(large, LINKS)
print(status("VmHWM") - before)
"""


def test_memory_does_not_grow_with_the_length_of_the_run():
    grown = []
    for steps in (10_000, 40_000):
        words = [sys.executable, "-c", GROWTH, "10", str(steps)]
        here = Path(__file__).parent
        grown.append(int(subprocess.run(words, capture_output=True, text=True, check=True, cwd=here).stdout))
    operations_kib = 40_000 * 3 * RANKS * OP.itemsize / 1024
    assert grown[1] < grown[0] + 1024 and grown[1] < operations_kib / 10
