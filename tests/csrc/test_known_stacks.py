"""A thread's memory of its stacks, on random ones: tests/data/places/known_stacks.c."""

import subprocess

import pytest
from compiled import RUNTIME
from paths import ROOT

FLAGS = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{RUNTIME}", f"-I{ROOT / 'build' / 'generated'}"]
SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-sanitize=alignment"]
ROUNDS = 50_000


@pytest.fixture(scope="module")
def known_stacks(tmp_path_factory):
    """known_stacks(seed, *more): what the program says."""
    program = tmp_path_factory.mktemp("known_stacks") / "known_stacks"
    sources = [ROOT / "tests" / "data" / "places" / "known_stacks.c"]
    sources += [RUNTIME / "places" / name for name in ("known_stacks.c", "pages.c")]
    subprocess.run(["gcc", *FLAGS, *SANITIZED, *sources, "-o", program, "-pthread"], check=True)

    def run(*words: str) -> str:
        done = subprocess.run([program, words[0], str(ROUNDS), *words[1:]], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_a_stack_is_known_once_it_was_walked_and_never_taken_for_another(known_stacks, seed):
    again, _, words, _, edges, _ = known_stacks(seed).split()
    assert int(again) > ROUNDS // 10
    assert int(words) > int(edges) > 100


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_python_may_come_and_go(known_stacks, seed):
    again, _, words, _, edges, _ = known_stacks(seed, "comes-and-goes").split()
    assert int(again) > ROUNDS // 10
    assert int(words) > int(edges) > 100
