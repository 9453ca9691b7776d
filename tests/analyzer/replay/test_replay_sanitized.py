"""The simulator under AddressSanitizer and UBSan: random programs and machines touch no memory that is not theirs, and
no sum wraps."""

from sanitized import build, run

from csrc.build_replay import REPLAY, SOURCES, ffi

CASES = 60

RUN = f"""
from dataclasses import replace
from random import Random
import numpy as np
from analyzer.errors import TracelibError
from analyzer.program.storage import PackedOperations, packed
from analyzer.machine.description import DIALECTS, Machine
from analyzer.parallel import Team
from analyzer.replay.ideal_network import ideal_times
from analyzer.replay.simulate import simulate
from random_replays import PlainWriter, random_applications, random_machine, random_program, with_absurd
assert simulate.__globals__["lib"] is sys.modules["analyzer._replay"].lib
for k in range({CASES}):
    random = Random(f"sanitized {{k}}")
    program = random_program(random)
    machine = random_machine(random, program.ranks, DIALECTS[k % 3])
    simulate(program, machine, times=True, transfers=True)
    program_in_bytes = replace(program, ops=packed(program.ops))
    simulate(program_in_bytes, machine)
    ideal_times(program, Team(), 2, times=True)
    plain = PlainWriter(random).program(40)
    assert ideal_times(plain, Team(), 2, times=True).end_ns == simulate(plain, Machine.ideal(eager_limit=2)).end_ns
    plain.ops["peer"][random.randrange(len(plain.ops))] = 99
    plain.ops["comm"][random.randrange(len(plain.ops))] = 99
    plain.ops["request"][random.randrange(len(plain.ops))] = 99
    ideal_times(plain, Team(), 2)
    damaged = np.frombuffer(random.randbytes(len(program_in_bytes.ops.memory)), np.uint8)
    try:
        PackedOperations(damaged, program_in_bytes.ops.blocks, len(program.ops), 0)[:]
    except TracelibError:
        pass
    try:
        simulate(program, with_absurd(random, machine))
    except TracelibError:
        pass
    several = random_applications(random)
    machine = random_machine(random, max(p.ranks for p in several), "thesis")
    simulate(several, machine)
    try:
        simulate(several, machine, repetitions=2, runs_room=20)
    except TracelibError:
        pass
    broken = program.ops.copy()
    broken["peer"][random.randrange(len(broken))] = 99
    broken["request"][random.randrange(len(broken))] = 99
    object.__setattr__(program, "ops", broken)
    try:
        simulate(program, machine)
    except TracelibError:
        pass
print("done")
"""


def test_random_cases(tmp_path):
    """Applications at once, closed ones, and operations that name what does not exist, too."""
    library = tmp_path / "_replay.abi3.so"
    build(ffi, library, SOURCES, [REPLAY])
    assert run("analyzer._replay", library, RUN) == "done\n"
