"""`mpirun -n 3 analyze` spreads the work and writes the same bytes as one process."""

import pytest

OUTPUTS = ("run.prv", "run.pcf", "run.row", "run.waits.cfg", "run.dim", "run.profile.csv", "run.profile.png")


@pytest.mark.parametrize(
    "command", [["prv", "--waits"], ["dim"], ["profile", "--json"], ["look", "--no-files", "--json"], ["check"]]
)
def test_same_bytes(openmpi, compiled, traced, analyze, command):
    run = traced(openmpi, compiled(openmpi, "nonblocking.c"), env={"TRACELIB_BUFFER": "16K"})
    one = analyze(*command, run.run).check()
    alone = read_and_remove(run.folder)
    three = analyze(*command, run.run, under=openmpi, ranks=3).check()
    assert read_and_remove(run.folder) == alone
    assert three.stdout == one.stdout
    if command[0] in ("prv", "dim", "profile"):
        assert alone


def read_and_remove(folder):
    """The analyzer's files by name."""
    found = {name: (folder / name).read_bytes() for name in OUTPUTS if (folder / name).exists()}
    for name in found:
        (folder / name).unlink()
    return found
