"""The runtime under sanitizers, in programs that were not built for any: addresses, undefined behaviour, races."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import source_of
from result import rank_files
from sampled_runs import is_sample
from thread_notes import FLAGS, check_exit, compare

from csrc.build_runtime import build

pytestmark = pytest.mark.long


def runtime_of(sanitizer: str) -> str:
    """The library that a program must load first."""
    done = subprocess.run(["gcc", f"-print-file-name={sanitizer}"], capture_output=True, text=True, check=True)
    if not Path(done.stdout.strip()).is_absolute():
        pytest.skip(f"gcc has no {sanitizer}")
    return str(Path(done.stdout.strip()).resolve())


def build_with(folder: Path, *flags: str) -> str:
    """A libtrace.so for a sanitizer. To optimize it takes a minute, and programs are no faster for it."""
    library = folder / "libtrace.so"
    build(library, folder / "generated", ["-g1", "-O0", *flags])
    return str(library)


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory) -> dict[str, str]:
    """Environment with the runtimes of AddressSanitizer and UndefinedBehaviorSanitizer and a libtrace.so for them."""
    runtimes = [runtime_of("libasan.so"), runtime_of("libubsan.so")]
    flags = ("-fsanitize=address,undefined", "-fno-omit-frame-pointer")
    library = build_with(tmp_path_factory.mktemp("addresses"), *flags)
    return {
        "LD_PRELOAD": ":".join([*runtimes, library]),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


@pytest.fixture(scope="session")
def watched(tmp_path_factory) -> dict[str, str]:
    """The same for ThreadSanitizer: the first race of the library ends the program with exit code 66."""
    library = build_with(tmp_path_factory.mktemp("races"), "-fsanitize=thread")
    return {
        "LD_PRELOAD": f"{runtime_of('libtsan.so')}:{library}",
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66",
        "UCX_MEM_EVENTS": "no",  # its hooks of madvise run in threads that the sanitizer knows as ended, and crash it
    }


def check_silence(stderr: str) -> None:
    """No finding, and it was the library that ran."""
    assert "Sanitizer" not in stderr
    assert "runtime error" not in stderr
    assert "tracelib:" in stderr


HARD = {"TRACELIB_BUFFER": "4K", "TRACELIB_COMPRESS": "1", "TRACELIB_SYNC": "all,collectives:7"}
"""Flushes all the time, which compress; clocks measured while threads are in MPI."""


@pytest.mark.parametrize("program", ["blocking", "nonblocking", "collectives", "communicators"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_no_finding(request, compiled, launch, sanitized, debian, program):
    leg = request.getfixturevalue(debian)
    env = sanitized | {"TRACELIB_BUFFER": "16K", "TRACELIB_SYSTEM": "1s", "TRACELIB_PYTHON": sys.executable}
    check_silence(launch(leg, compiled(leg, f"{program}.c"), preload=False, env=env, limit_s=120).check().stderr)


@pytest.mark.parametrize("tool", ["sanitized", "watched"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_many_threads(request, compiled, launch, tmp_path, debian, tool):
    leg, env = request.getfixturevalue(debian), request.getfixturevalue(tool) | HARD
    program = compiled(leg, "threads.c", *FLAGS)
    finished = launch(leg, program, "2", "4", ranks=2, preload=False, env=env, limit_s=120).check()
    check_silence(finished.stderr)
    compare(tmp_path, threads=2 * 4 * 2 + 1, rounds=4)


@pytest.mark.parametrize("tool", ["sanitized", "watched"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_exit_while_threads_are_in_mpi(request, compiled, launch, tmp_path, debian, tool):
    leg, env = request.getfixturevalue(debian), request.getfixturevalue(tool) | {"TRACELIB_COMPRESS": "1"}
    finished = launch(leg, compiled(leg, "exits.c", *FLAGS), "exit", ranks=1, preload=False, env=env, limit_s=120)
    said = finished.stdout + finished.stderr
    assert not finished.timed_out
    assert "BAD TERMINATION" not in said, said  # MPICH's launcher, of a rank that a signal has ended
    assert "on signal" not in said, said  # Open MPI's; without MPI_Finalize its exit code is 1
    assert "Sanitizer" not in finished.stderr
    assert "runtime error" not in finished.stderr
    assert "tracelib:" not in finished.stderr
    check_exit(tmp_path, finished.stdout)


def test_regions_of_many_threads(openmpi, compiled, launch, watched):
    env = watched | HARD
    check_silence(launch(openmpi, compiled(openmpi, "regions.c", *FLAGS), ranks=1, preload=False, env=env).stderr)


def test_a_race_is_found(openmpi, compiled, launch, watched, tmp_path):
    """Without this the silence above would mean nothing: the same run, in which the library's locks do nothing."""
    unlocked = tmp_path / "unlocked.so"
    source = source_of("unlocked.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", source, "-o", unlocked, "-ldl"], check=True)
    env = watched | {"LD_PRELOAD": f"{unlocked}:{watched['LD_PRELOAD']}"}
    program = compiled(openmpi, "threads.c", *FLAGS)
    finished = launch(openmpi, program, "1", "3", ranks=2, preload=False, env=env)
    assert finished.returncode != 0
    assert "WARNING: ThreadSanitizer: data race" in finished.stderr
    assert "libtrace.so" in finished.stderr


@pytest.mark.parametrize("way", ["perf", "signal"])
def test_samples_of_many_threads(openmpi, compiled, launch, tmp_path, sanitized, way):
    """While threads come and go, with paths."""
    env = sanitized | HARD | {"TRACELIB_SAMPLE": "1ms", "TRACELIB_SAMPLER": way}
    program = compiled(openmpi, "threads.c", *FLAGS)
    finished = launch(openmpi, program, "2", "4", ranks=2, preload=False, env=env, limit_s=120).check()
    check_silence(finished.stderr)
    for file in rank_files(tmp_path / "run.h5"):
        rows = file.tables["samples"]
        rows = rows[is_sample(rows)]
        assert len(rows) > 10 and (rows["path"] > 0).mean() > 0.8
