"""The simulator under AddressSanitizer and UBSan: random programs and machines touch no memory that is not theirs, and
no sum wraps."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from csrc.build_replay import REPLAY, ffi

ROOT = Path(__file__).resolve().parent.parent
CASES = 60

RUN = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("analyzer._replay", sys.argv[1])
sys.modules["analyzer._replay"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["analyzer._replay"])
from dataclasses import replace
from random import Random
import numpy as np
from analyzer.errors import TracelibError
from analyzer.operations.spill import PackedOperations, packed
from analyzer.replay.simulate import simulate
from tests.random_replays import random_applications, random_machine, random_program, with_absurd
assert simulate.__globals__["lib"] is sys.modules["analyzer._replay"].lib
for k in range({CASES}):
    random = Random(f"sanitized {{k}}")
    program = random_program(random)
    machine = random_machine(random, program.ranks, ("thesis", "dimemas-5.5")[k % 2])
    simulate(program, machine, times=True, transfers=True)
    program_in_bytes = replace(program, ops=packed(program.ops))
    simulate(program_in_bytes, machine)
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
    source, library = tmp_path / "replay_module.c", tmp_path / "_replay.abi3.so"
    ffi.emit_c_code(str(source))
    flags = ["-shared", "-fPIC", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    includes = ["-I", str(REPLAY), "-I", sysconfig.get_paths()["include"]]
    sources = [str(source), *map(str, sorted(REPLAY.glob("*.c")))]
    subprocess.run(["gcc", "-std=gnu11", *flags, *includes, *sources, "-lm", "-o", str(library)], check=True)
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], check=True, capture_output=True, text=True)
    environment = os.environ | {
        "LD_PRELOAD": asan.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself leaves memory behind
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", RUN, str(library)]
    found = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr[-4000:]
    assert found.stdout == "done\n"
