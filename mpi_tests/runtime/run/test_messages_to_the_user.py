"""The library's lines on stderr: settings that do not count, once, by rank 0; and the closing line."""

import pytest

WRONG = {
    "TRACELIB_CLOCK": ("sundial", "=sundial is neither tsc nor monotonic; using "),
    "TRACELIB_PAPI": ("maybe", "=maybe: only share is known; PAPI is left to a program that uses it itself"),
    "TRACELIB_REGIONS": (",,", "=,, names no region; everything is recorded"),
    "TRACELIB_LIMIT_POLICY": ("ring", "=ring does nothing without TRACELIB_LIMIT"),
    "TRACELIB_BUFFER": ("3k", "=3k is not a size from 4K to 64G; using 1M"),
    "TRACELIB_DURATION": ("1 day", "=1 day is not a time such as 100us, 5ms, 10s or 2m; it is ignored"),
    "TRACELIB_CPUTIME": ("never", "=never is none of auto, on and off: CPU time is not read"),
    "TRACELIB_COMPRESS": ("10", "=10 is not a level from 1 (fast) to 9 (small), or 0; not compressing"),
    "TRACELIB_LIMTI": ("5M", " is not a setting; is it meant for TRACELIB_LIMIT"),
    "TRACELIB_RANDOM_THING": ("", " is not a setting: it does nothing"),
}


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_each_is_said_once(request, compiled, traced, mpi_name):
    mpi = request.getfixturevalue(mpi_name)
    env = {name: value for name, (value, _) in WRONG.items()}
    result = traced(mpi, compiled(mpi, "steady.c"), "100", ranks=2, env=env)
    said = [line for line in result.finished.stderr.splitlines() if line.startswith("tracelib: TRACELIB_")]
    for name, (_, text) in WRONG.items():
        assert sum(line.startswith(f"tracelib: {name}{text}") for line in said) == 1, (name, said)
    assert len(said) == len(WRONG)
    assert [file.counts()["MPI_Sendrecv"] for file in result.ranks] == [100, 100]


def test_nothing_is_said_of_settings_that_count(openmpi, compiled, traced):
    env = {
        "TRACELIB_CLOCK": "monotonic",
        "TRACELIB_PAPI": "share",
        "TRACELIB_LIMIT": "8M",
        "TRACELIB_PYTHON": "python3",
    }
    result = traced(openmpi, compiled(openmpi, "steady.c"), "10", ranks=2, env=env | {"TRACELIB_CPUTIME": "off"})
    assert len(result.finished.stderr.splitlines()) == 1, "the closing line"


@pytest.mark.parametrize("words", [[], ["on"]])
def test_the_closing_line_counts_what_is_in_the_files(openmpi, compiled, traced, words):
    program = compiled(openmpi, "few_calls.c")
    result = traced(openmpi, program, *words, ranks=1, env={"TRACELIB_START": "off", "TRACELIB_CPUTIME": "off"})
    recorded = sum(sum(file.counts().values()) for file in result.ranks)
    assert recorded <= 1 + len(words)
    said = f"tracelib: 1 rank, {recorded} call{'' if recorded == 1 else 's'}, "
    assert result.finished.stderr.startswith(said)
