"""Programs made at random, whose functions call each other at random: no stack is ever taken for another one."""

import shutil
import tempfile
from pathlib import Path

import pytest
from building import build, source_of
from call_paths import compare
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_frames import functions, source
from result import rank_files

EXAMPLES = 4
FRAMES = ("-fomit-frame-pointer", "-fno-omit-frame-pointer")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")


def check(leg, traced, made, level, frames, seed):
    """One program, compiled, run, compared."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "random.c").write_text(source(made))
        program, notes = folder / "random", folder / "notes"
        flags = (level, frames, "-gdwarf-4", "-I", str(source_of("hand_kept.h").parent), "-pthread")
        build(leg, folder / "random.c", program, *flags)
        traced(leg, program, str(seed), ranks=1, env={"NOTES": str(notes)}, folder=folder)
        (file,) = rank_files(folder / "run.h5")
        assert compare(file, notes, {"random": program}, ["random.c"]) > 0


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_random_frames(request, traced, monkeypatch, debian, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    leg = request.getfixturevalue(debian)
    monkeypatch.setenv("OMPI_CC", compiler)
    monkeypatch.setenv("MPICH_CC", compiler)

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(functions(compiler == "gcc"), st.sampled_from(LEVELS), st.sampled_from(FRAMES), st.integers(1, 10**6))
    def run(made, level, frames, seed):
        check(leg, traced, made, level, frames, seed)

    run()
