"""Damaged files of every kind end in an answer or one clear line: the first inputs of `make fuzz`."""

import os
from random import Random

import pytest

from fuzz import plausible
from fuzz.campaign import Campaign
from fuzz.commands import warm
from fuzz.corpus import MAKERS, build
from fuzz.verdict import failure
from fuzz.worker import Outcome, Worker

pytestmark = pytest.mark.long

INPUTS = 200
FIRST = 1


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    warm()
    return build(tmp_path_factory.mktemp("seeds"))


def test_damaged_files(seeds, tmp_path):
    results = list(Campaign(seeds, FIRST, tmp_path).results(range(INPUTS)))
    assert {result.kind for result in results} == {*MAKERS}
    assert any(result.outcome.code == 0 for result in results) and any(result.outcome.code for result in results)
    failed = [
        (result.number, result.failure, " ".join(result.line), result.said) for result in results if result.failure
    ]
    assert not failed, failed


def test_an_input_is_the_same_whenever_it_is_made(seeds, tmp_path):
    """By its number and the seed, whatever ran before it."""
    numbers = [17, 40, 77]
    alone = [next(Campaign(seeds, FIRST, tmp_path).results([number])) for number in numbers]
    together = list(Campaign(seeds, FIRST, tmp_path).results(numbers))
    assert [(r.line, r.outcome.code, r.said) for r in alone] == [(r.line, r.outcome.code, r.said) for r in together]


LINE = ("analyze", "info", "run.h5")


@pytest.mark.parametrize(
    ("code", "said", "found"),
    [
        (0, "", ""),
        (0, "run.h5: rank 1: was killed\n", ""),
        (1, "Error: no such file (give one)\n", ""),
        (1, "run.h5: rank 1: was killed\nError: it cannot be replayed\n", ""),
        (1, "Traceback (most recent call last):\n  ...\nKeyError: 3\n", "traceback"),
        (0, "x.py:3: RuntimeWarning: overflow\n", "stray text"),
        (1, "Error: one\nError: two\n", "several error lines"),
        (1, "", "no reason given"),
        (0, "Error: one\n", "an error line, and success"),
        (1, "Error: not enough memory for this trace\n", "all memory"),
        (-11, "", "SIGSEGV"),
        (1, "a.c:3:1: runtime error: shift exponent 64\n", "sanitizer"),
    ],
)
def test_what_is_a_failure(code, said, found):
    assert failure(LINE, Outcome(code, 0.1), said) == found


def test_a_check_that_finds_something_gives_its_reasons_elsewhere():
    assert failure(("analyze", "check", "run.h5"), Outcome(1, 0.1), "") == ""


def test_a_worker_that_does_not_end_or_dies(monkeypatch):
    """Each is told apart, and the next job is done by another process."""
    monkeypatch.setattr("fuzz.worker.LIMIT_S", 0.2)

    def do(number):
        while number == 1:
            pass
        if number == 2:
            os.kill(os.getpid(), 9)
        if number == 3:
            return len(bytearray(3 << 30))
        return number

    worker = Worker(do)
    assert not worker.run(1).in_time
    monkeypatch.setattr("fuzz.worker.LIMIT_S", 30.0)
    assert worker.run(2).code == -9
    assert worker.run(7).code == 7
    assert worker.run(3).code == 1  # MemoryError
    assert worker.run(8).code == 8
    worker.close()


def test_numbers_that_would_be_infinite_stay():
    """Ten times a number of 17 digits and 292 zeros is no float, so it stays."""
    for seed in range(200):
        assert plausible.damage(Random(seed), b"a 1e308 b 17976931348623157" + b"0" * 292)
