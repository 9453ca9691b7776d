"""Shares when a program starts: with a plan, without one, and with one that is wrong, as C has them."""

import pytest

from tracelib.balance import ShareOrigin, SharePlan, shares
from tracelib.balance.monitor import Monitor

GOOD = "tracelib-plan 1\nranks 3\nspeeds 100 1 2 3\n"
WRONG = {
    "": "does not begin with",
    "tracelib-plan 2\n": "does not begin with",
    "tracelib-plan 1\nranks 3\nspeeds 100 1 2\n": "line 3 is no line of a plan",
    "tracelib-plan 1\nranks 3\nspeeds 100 1 2 0\n": "",
    "tracelib-plan 1\nranks 2\nspeeds 100 1 2\n": "it is for 2 ranks, and there are 3",
    "tracelib-plan 1\nranks 3\n": "",
    "\x00\xff": "",
}


class OneOf:
    """Rank 0 of three, which hears what it says itself."""

    rank, size = 0, 3

    def bcast(self, value):
        return value


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Writes a text as the plan that TRACELIB_PLAN names."""
    path = tmp_path / "my.plan"
    monkeypatch.setenv("TRACELIB_PLAN", str(path))

    def write(text):
        path.write_text(text, encoding="latin-1")
        return path

    return write


def test_a_plan(plan, capsys):
    plan(GOOD)
    share = shares(60, OneOf())
    assert share.counts == (10, 20, 30) and share.basis is ShareOrigin.PLANNED and not capsys.readouterr().err


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_plan_is_said_and_shares_are_equal(text, plan, capsys):
    path = plan(text)
    share = shares(60, OneOf())
    said = capsys.readouterr().err
    assert share.counts == (20, 20, 20) and share.basis is ShareOrigin.WRONG and share.expected is None
    assert said.startswith(f"tracelib: the plan {path} cannot be used, so shares are equal: ")
    assert WRONG[text] in said and said.count("\n") == 1
    assert Monitor(60, OneOf()).share.basis is ShareOrigin.WRONG


def test_a_plan_that_is_not_there_and_one_of_other_ranks(tmp_path, capsys):
    assert shares(60, OneOf(), tmp_path / "none").basis is ShareOrigin.WRONG
    assert "No such file" in capsys.readouterr().err
    assert shares(60, OneOf(), SharePlan((1.0,), ((1.0, 2.0),), ())).counts == (20, 20, 20)
    assert "it is for 2 ranks" in capsys.readouterr().err


def test_without_a_plan(monkeypatch, capsys):
    monkeypatch.delenv("TRACELIB_PLAN", raising=False)
    share = shares(61, OneOf())
    assert sorted(share.counts) == [20, 20, 21] and share.basis is ShareOrigin.EQUAL and not capsys.readouterr().err
