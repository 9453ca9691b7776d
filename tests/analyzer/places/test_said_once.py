"""A fault of a program's names is reported in one line, once, by every command that shows its places."""

import shutil

import pytest
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.places.elf import open_elf
from tracelib.schema import SAMPLE_BEGIN, SAMPLE_END

MS = 1_000_000
OUTER, INNER = 1, 2
"""Rows of `paths`: two places in the program, the second called from the first."""


def run_of(folder, program, build_id):
    """Rank 1 computes from 10 to 510 ms, rank 0 to 110 ms; then both meet in a barrier."""
    modules = [(0, 0, 0, b"", b""), (0, 0, 0, build_id.encode(), str(program).encode())]
    paths = [(0, 0, 0), (0, 1, 0x3001), (OUTER, 1, 0x3011)]
    ranks = []
    for begin in (110, 510):
        times = [("MPI_Init", 0, 10, {}), ("MPI_Barrier", begin, 520, {"comm": WORLD}), ("MPI_Finalize", 530, 540, {})]
        calls = [call(name, enter * MS, leave * MS, **more) for name, enter, leave, more in times]
        samples = [
            (10 * MS, 0, 0, 0, 0, 0, SAMPLE_BEGIN),
            *((at * MS, 10 * MS, INNER, 0, 0, 0, 0) for at in range(20, begin, 10)),
            (530 * MS, 0, 0, 0, 0, 0, SAMPLE_END),
        ]
        tables = {"modules": modules, "paths": paths, "call_paths": [OUTER, INNER, OUTER], "samples": samples}
        ranks.append(tables | {"calls": calls})
    return str(write_run(folder, ranks))


@pytest.fixture(params=["no -g", "replaced", "deleted"])
def said(request, tmp_path):
    """Write a run of a program with a fault, and return it with the begin of the line about the fault."""
    program = tmp_path / "solver"
    shutil.copy(shutil.which("true"), program)
    build_id = open_elf(program).build_id if request.param == "no -g" else "ab12ab12ab12ab12"
    if request.param == "deleted":
        program.unlink()
    begin = {
        "no -g": "solver has no debug information: compiled with -g",
        "replaced": f"{program} is not the file that ran (build id ab12ab12ab12)",
        "deleted": f"{program} is not on this machine, so places in it are addresses: analyze the run once where it is",
    }
    return run_of(tmp_path, program, build_id), begin[request.param]


def test_each_command_says_it_once(said, capsys):
    run, line = said
    for command in ("info", "waits", "critical-path", "hot"):
        assert main([command, run]) == 0
        text = "".join(capsys.readouterr().out.split())  # a long path is folded
        assert "solver+0x" in text, command
        assert text.count("".join(line.split())) == 1, command
