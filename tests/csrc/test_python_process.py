"""places/python.h in programs that are no Python, become one late, are none any more, or only look like one."""

import os
import subprocess

import compiled
import pytest
from pythons import SOURCES, SUPPORT, shared_libraries

LIBRARIES = shared_libraries()
MINORS = (9, 10, 11, 12, 13)
"""One of each layout that is written down, and one that is published."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """run(program, *words): the lines that a program of tests/support writes."""
    folder = tmp_path_factory.mktemp("python_process")
    for name in "python_host", "python_fake":
        sources = [SUPPORT / f"{name}.c", *(compiled.RUNTIME / source for source in SOURCES)]
        flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-rdynamic", f"-I{compiled.RUNTIME}"]
        subprocess.run(["cc", *flags, "-o", folder / name, *sources, "-ldl", "-lpthread"], check=True)

    def run(program, *words, **variables):
        command = [folder / program, *map(str, words)]
        environment = os.environ | variables
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.splitlines()

    return run


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("calls_before", [0, 1, 2000])
def test_a_program_that_loads_python_late_and_unloads_it(run, name, calls_before):
    library, home = LIBRARIES[name]
    start = ["0", "3", "1", "0", "0"]
    assert run("python_host", library, calls_before, PYTHONHOME=home) == ["0", "0", *start, *start, "0"]


FOUND = ["fake.py inner 11", "fake.py outer 21", "fake.py <module 31", "3 frames"]
"""Texts have room for 7 bytes."""


@pytest.mark.parametrize("minor", MINORS)
def test_no_damage_is_followed(run, minor):
    """None of four thousand damaged states of Python ends the process; some are good enough, and others are not."""
    *found, damaged = run("python_fake", minor, f"3.{minor}.1 (main, Jan  1 2024) [GCC 12.2.0]", 4_000)
    died, known = (int(part.split()[0]) for part in damaged.split(", "))
    assert found == FOUND
    assert died == 0
    assert 400 < known < 2000


@pytest.mark.parametrize(
    ("version", "known"),
    [
        ("3.12.10 (main, Apr  8 2025, 11:35:47) [GCC 12.2.0]", True),
        ("3.12.0rc2 (main) [GCC 12.2.0]", True),
        ("3.12.3+ (heads/3.12:1234567, Apr  8 2025) \n[Clang 18.1.3 ]", True),
        ("3.12.3 | packaged by conda-forge | (main) [GCC 12.3.0]", True),
        ("3.12.0b4 (main) [GCC 12.2.0]", False),
        ("3.12.0a7+ (main) [GCC 12.2.0]", False),
        ("3.12.1+cinder (main) [GCC 12.2.0]", False),
        ("3.12.1 (12345, Apr  8 2025)\n[PyPy 7.3.19 with GCC 10.2.1]", False),
        ("3.12.8 (Mon Apr 8 2025)\n[Graal, GraalVM CE, Java 24.0.1]", False),
        ("3.8.20 (main) [GCC 12.2.0]", False),
        ("3.11.9 (main) [GCC 12.2.0]", False),  # its frames are not where those of 3.12 are
        ("3.99.0 (main) [GCC 12.2.0]", False),
        ("4.0.0 (main) [GCC 12.2.0]", False),
        ("", False),
    ],
)
def test_what_calls_itself_python(run, version, known):
    assert run("python_fake", 12, version, 0)[-2] == ("3 frames" if known else "0 frames")
