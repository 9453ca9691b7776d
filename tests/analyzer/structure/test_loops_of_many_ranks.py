"""Some of many ranks that make the same calls are examined: the result is the same as from all of them."""

from unittest.mock import patch

import numpy as np
import pytest
from thread_team import by_team
from uneven_runs import iterative, written

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.calls.loops import SequenceLoop
from analyzer.structure.levels import each_rank
from analyzer.structure.levels.run_structure import IterationMethod, structure

RANKS, ITERATIONS = 12, 30


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A chain: the first and the last rank make other calls than those between."""
    made = iterative(ITERATIONS, RANKS, lambda iteration, rank: 1000 + 40 * rank + iteration % 3, step_us=50)
    return str(written(tmp_path_factory.mktemp("many"), made))


def found(run, team):
    trace = open_trace(run, team=team)
    parts = structure(trace, team, IterationMethod.CALLS).parts
    trace.close()
    return parts


def said(run, most, team=None):
    """Find the structure with at most `most` ranks examined, and count the examinations."""
    with (
        patch.object(each_rank, "MOST_LOOKED_AT", most),
        patch.object(each_rank, "loops_of", side_effect=each_rank.loops_of) as looks,
    ):
        return found(run, team or Team()), looks.call_count


def as_text(parts):
    with np.printoptions(threshold=10**6):
        return repr(parts)


@pytest.mark.parametrize("most", [2, 4, 5])
def test_same_as_of_all(run, most):
    """Rank 11 is looked at though it is not one of them: no other rank makes its calls."""
    whole, looks_of_all = said(run, RANKS)
    some, looks = said(run, most)
    assert as_text(some) == as_text(whole)
    assert looks < looks_of_all


@pytest.mark.parametrize("members", [2, 3])
def test_same_by_a_team(run, members):
    alone, _ = said(run, 4)
    with patch.object(each_rank, "MOST_LOOKED_AT", 4):
        for whole in by_team(members, lambda team: found(run, team)):
            assert as_text(whole) == as_text(alone)


def loop(*begins):
    return SequenceLoop(np.array(begins), begins[-1] + 3, 1.0)


def test_most_votes_count_and_then_the_first_rank():
    votes = each_rank._Votes()
    for rank, (calls, begins) in enumerate(
        [(b"a", (0, 3, 6)), (b"a", (1, 4, 7)), (b"a", (1, 4, 7)), (b"b", (2, 5, 8)), (b"b", (0, 3, 6)), (b"c", (9,))]
    ):
        votes.add(calls, rank, [loop(*begins)])
    usual = {calls: loops[0].begins.tolist() for calls, loops in votes.usual(Team()).items()}
    assert usual == {b"a": [1, 4, 7], b"b": [2, 5, 8], b"c": [9]}


def test_votes_of_all_members_count():
    def usual(team):
        votes = each_rank._Votes()
        for rank, begins in (((0, (1, 4)), (1, (1, 4))), ((2, (0, 3)), (3, (0, 3)), (4, (0, 3))))[team.rank]:
            votes.add(b"a", rank, [loop(*begins)])
        return votes.usual(team)[b"a"][0].begins.tolist()

    assert by_team(2, usual) == [[0, 3], [0, 3]]
