"""The reader of .eh_frame and the walk by its rules, on damaged tables: tests/data/places/damaged_frames.c."""

import subprocess

import pytest
from compiled import RUNTIME
from paths import ROOT

PLACES = RUNTIME / "places"
FLAGS = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{RUNTIME}", f"-I{ROOT / 'build' / 'generated'}"]
SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
ROUNDS = 20_000


@pytest.fixture(scope="module")
def damaged_frames(tmp_path_factory):
    """damaged_frames(seed): what the program says."""
    folder = tmp_path_factory.mktemp("damaged_frames")
    program, walk = folder / "damaged_frames", folder / "walk.o"
    subprocess.run(["gcc", *FLAGS, "-c", PLACES / "walk.c", "-o", walk], check=True)
    sources = [ROOT / "tests" / "data" / "places" / "damaged_frames.c"]
    sources += [PLACES / name for name in ("frame_rule.c", "expression.c", "pages.c", "readable.c")]
    subprocess.run(["gcc", *FLAGS, *SANITIZED, *sources, walk, "-o", program], check=True)

    def run(seed: int) -> str:
        done = subprocess.run([program, str(seed), str(ROUNDS)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_is_read_that_is_not_there(damaged_frames, seed):
    words = damaged_frames(seed).split()
    rounds, known, far = (int(words[i]) for i in (2, 4, 8))
    assert rounds == ROUNDS
    assert known > ROUNDS // 10
    assert far > ROUNDS // 100
