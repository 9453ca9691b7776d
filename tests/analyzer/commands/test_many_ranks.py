"""Output for a run of very many ranks fits a screen: ranks in groups, and equal lines as one."""

import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from analyzer.cli import main
from analyzer.metrics.clusters import RankMeasure
from analyzer.report.words.groups import FEW, MOST_OUTLIERS, alike_ranks, few_lines, print_alike
from benchmarks.halo import write_halo

RANKS = 2000
MOST_LINES, WIDEST = 78, 80
"""Largest number of lines and of columns of a whole command's output in a pipe.

It has three findings, a matrix of 16 blocks and several tables of up to 10 rows.
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_halo(tmp_path_factory.mktemp("many"), RANKS, RANKS * 5)


@pytest.fixture(scope="module")
def broken(run, tmp_path_factory):
    """Copy the run without the files of 200 ranks, whose messages then have one side only."""
    folder = tmp_path_factory.mktemp("broken")
    shutil.copy(run, folder)
    shutil.copytree(run.with_suffix(".ranks"), folder / "run.ranks")
    for rank in range(100, 700, 3):
        (folder / "run.ranks" / f"{rank:06d}.h5").unlink()
    return folder / "run.h5"


def printed(capsys, *arguments):
    main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert len(err.splitlines()) <= 2
    return out


@pytest.mark.parametrize("command", ["info", "waits", "critical-path", "efficiency", "check", "replay", "loggp"])
@pytest.mark.parametrize("which", ["run", "broken"])
def test_each_command_fits_a_screen(command, which, request, capsys):
    lines = printed(capsys, command, request.getfixturevalue(which)).splitlines()
    assert len(lines) <= MOST_LINES
    assert command == "check" or max(map(len, lines), default=0) <= max(
        WIDEST, len(str(request.getfixturevalue(which)))
    )


def test_the_same_of_many_ranks_is_one_line_of_check(broken, capsys):
    lines = printed(capsys, "check", broken).splitlines()
    assert any(line.startswith("ranks 100-697:3 (200 ranks), such as rank 100: ") for line in lines)
    assert len(json.loads(printed(capsys, "check", broken, "--json"))["findings"]) > RANKS / 10


def test_16_ranks_are_shown_one_by_one(tmp_path, capsys):
    run = write_halo(tmp_path, FEW, FEW * 10)
    for command in ("info", "waits", "critical-path", "efficiency"):
        assert "alike" not in printed(capsys, command, run)
    assert [
        line.split()[0] for line in printed(capsys, "critical-path", run).split("Rank on")[1].split("\n")[1:17]
    ] == [str(rank) for rank in range(FEW)]


def shown(found):
    console = Console(width=WIDEST, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    print_alike(found, console)
    return console.export_text()


def test_100000_ranks_in_a_table():
    """By hand: even ranks compute 2 s, odd ones 1 s, and rank 77 computes 9 s."""
    ranks = np.arange(100_000)
    times = np.where(ranks % 2 == 0, 2e9, 1e9)
    times[77] = 9e9
    text = shown(alike_ranks(ranks, RankMeasure("computing", times), RankMeasure("in MPI", 3e9 - times.clip(max=2e9))))
    rows = [line.split() for line in text.splitlines()]
    assert ["0-99998:2", "50000", "0", "2.00s", "1.00s"] in rows
    assert ["1-75:2,79-99999:2", "49999", "1", "1.00s", "2.00s"] in rows
    assert "rank 77 stands out: computing 9.00s, 4.5 times the 2.00s of ranks like 0" in " ".join(text.split())


@given(st.integers(FEW + 1, 300), st.integers(0, 2**32 - 1))
def test_any_ranks_fit_a_screen(size, seed):
    values = 10 ** np.random.default_rng(seed).uniform(0, 12, (3, size))
    text = shown(alike_ranks(np.arange(size) * 331, *(RankMeasure(f"column {k}", v) for k, v in enumerate(values))))
    assert len(text.splitlines()) <= 4 + 2 * 6 + 2 * (MOST_OUTLIERS + 1)
    assert max(map(len, text.splitlines())) <= WIDEST


def test_few_ranks_have_no_groups():
    assert alike_ranks(np.arange(FEW), RankMeasure("a", np.arange(FEW))) is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["rank 1: lost"] * 1, ["rank 1: lost"]),
        ([f"rank {r}: lost" for r in range(9)], ["ranks 0-8 (9 ranks): lost"]),
        ([f"rank {r}: {r} lost" for r in range(2, 9)], ["ranks 2-8 (7 ranks), such as rank 2: 2 lost"]),
        ([f"{r} lost" for r in range(9)], ["0 lost (and 8 more like this)"]),
        ([f"rank {r}: {'x' * r}" for r in range(9)], ["rank 0: ", "rank 1: x", "rank 2: xx", "and 6 more; see y"]),
        ([*[f"rank {r}: a" for r in range(5)], "b"], ["ranks 0-4 (5 ranks): a", "b"]),
    ],
)
def test_lines_that_say_the_same_are_one(lines, said):
    assert few_lines(lines, 3, "; see y") == said


@given(st.lists(st.from_regex(r"\A(rank [0-9]{1,5}: )?[a-c]{1,2} [0-9]\Z"), max_size=60), st.integers(1, 9))
def test_no_line_is_lost(lines, most):
    said = few_lines(lines, most)
    assert len(said) <= most + 1
    assert said == lines or len(lines) > most
