"""`analyze structure RUN RUN ...`: each run as if it were looked at alone, by whichever process."""

from __future__ import annotations

import pytest
from test_cuts import numbers, run_of_steps
from thread_team import by_team

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.parallel import Team, dealt


@pytest.fixture
def two_runs(tmp_path):
    """Two runs of the same steps; another one is slow."""
    runs = []
    for name, slow in (("first", 17), ("second", 5)):
        (tmp_path / name).mkdir()
        runs.append(str(run_of_steps(tmp_path / name, slow=slow)))
    return runs


def test_runs_are_said_in_their_order(two_runs, capsys):
    first, second = two_runs
    alone = [numbers(capsys, "structure", run, "--json") for run in two_runs]
    versions = [(run.pop("schema"), run.pop("version")) for run in alone]
    assert versions == [("structure", 1)] * 2
    both = numbers(capsys, "structure", first, second, "--json")
    assert both == {"schema": "structure", "version": 1, "runs": alone}
    assert [run["levels"][0]["slow"][0]["iteration"] for run in alone] == [18, 6]
    main(["structure", first])
    main(["structure", second])
    one_by_one = capsys.readouterr().out
    assert main(["structure", first, second]) == 0
    assert capsys.readouterr().out.replace("\n\n", "\n") == one_by_one.replace("\n\n", "\n")


def test_a_run_that_cannot_be_read_is_one_line(two_runs, capsys):
    assert main(["structure", two_runs[0], "missing.h5", "--json"]) != 0
    said = capsys.readouterr()
    assert not said.out and len(said.err.splitlines()) == 1 and "missing.h5" in said.err
    for words in (["--follow"], ["--csv"], ["-o", "x.png"], ["--picture", "x.png"]):
        assert main(["structure", *two_runs, *words]) != 0
        assert "one FILE" in capsys.readouterr().err
    assert main(["structure"]) != 0
    assert "FILE" in capsys.readouterr().err


def square(number: int) -> int:
    if number in (5, 7):
        raise TracelibError(f"{number} is wrong", "leave it out")
    return number * number


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_pieces_are_dealt_out(size):
    """In order on all members; of several errors the first piece's, whoever had it."""
    pieces = [3, 1, 4, 1]
    for found in by_team(size, lambda team: dealt(team, pieces, square)):
        assert found == [9, 1, 16, 1]

    def failing(team: Team) -> str:
        with pytest.raises(TracelibError) as error:
            dealt(team, [1, 2, 7, 3, 5], square)
        return f"{error.value} {error.value.hint}"

    assert set(by_team(size, failing)) == {"7 is wrong leave it out"}


def test_each_piece_is_done_once():
    done = []
    by_team(3, lambda team: dealt(team, range(10), done.append))
    assert sorted(done) == list(range(10))
