"""Gains by more processes: by hand."""

from pathlib import Path

import h5py
import numpy as np

from analyzer.commands.registry import names
from benchmarks import scaling, team
from benchmarks.scaling import words_of
from benchmarks.team import chain


def test_the_chain_takes_the_longest_of_each_stretch():
    """Two processes that meet twice: 3 s of the second, then 2 s of the first, then 4 s of the first."""
    assert chain([[1, 2, 4], [3, 1, 1]]) == 9
    assert chain([[5]]) == 5


def test_other_bytes_have_another_digest(tmp_path):
    found = set()
    cases = [(b"a", [1, 2], 1), (b"b", [1, 2], 1), (b"a", [1, 3], 1), (b"a", [1, 2], 2), (b"a", [1, 2], 1)]
    for number, (printed, rows, size) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "run.prv").write_bytes(b"#Paraver")
        with h5py.File(folder / "cut.h5", "w") as file:
            file.attrs["size"] = size
            file.create_group("rank_0").create_dataset("calls", data=np.array(rows))
        found.add(team._digest(printed, folder))
    assert len(found) == 4  # the last is as the first
    (folder / "run.prv").write_bytes(b"#Paraves")
    assert team._digest(b"a", folder) not in found


def test_command_lines_name_the_run():
    run = Path("folder/run.h5")
    assert words_of("look", run) == ["folder/run.h5", "-o", "."]
    assert words_of("validate", run)[:2] == ["validate", "folder/run.h5"]
    assert words_of("validate", run)[-2:] == ["--against", "folder/run.h5"]


def test_only_commands_that_there_are_get_measured():
    assert {command.split()[0] for command in scaling.COMMANDS} <= set(names())
