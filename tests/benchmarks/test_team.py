"""What more processes gain: by hand."""

from pathlib import Path

from analyzer.commands.table import COMMANDS
from benchmarks import scaling
from benchmarks.scaling import words_of
from benchmarks.team import chain


def test_the_chain_takes_the_longest_of_each_stretch():
    """Two processes that meet twice: 3 s of the second, then 2 s of the first, then 4 s of the first."""
    assert chain([[1, 2, 4], [3, 1, 1]]) == 9
    assert chain([[5]]) == 5


def test_command_lines_name_the_run():
    run = Path("folder/run.h5")
    assert words_of("look", run) == ["folder/run.h5", "-o", "."]
    assert words_of("validate", run)[:2] == ["validate", "folder/run.h5"]
    assert words_of("validate", run)[-2:] == ["--against", "folder/run.h5"]


def test_only_commands_that_there_are_get_measured():
    assert set(scaling.COMMANDS) <= set(COMMANDS)
