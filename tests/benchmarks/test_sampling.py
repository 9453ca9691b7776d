"""Figures of `make bench` on samples, from numbers by hand and a program that computes."""

import subprocess
from pathlib import Path

import pytest

from benchmarks import sampling
from benchmarks.sampling import Spent, compared, spent


def test_the_typical_pair_counts():
    """One run that was disturbed changes nothing."""
    pairs = [(Spent(2.0, 0, 0), Spent(2.0 * (1 + percent / 100), 0.01, 0)) for percent in (0.1, 0.2, 0.3, 0.4, 50)]
    middle, low, high = compared(pairs)
    assert middle == pytest.approx(1.3)
    assert low == pytest.approx(1.15) and 1.4 < high < 51


def test_batches_are_told_from_the_rest(tmp_path):
    """The time of a process that is not in batches is what begins and ends it."""
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nfor i in 9 1 3 2; do echo 0.000$i 0.0001 0.1; done\n")
    program.chmod(0o755)
    found = spent(program, tmp_path)
    assert found.batch_s == 0.0002  # the first is left out
    assert found.beside == pytest.approx(0.0004 / 0.4)
    assert found.outside_s < 0.5


def test_the_program_says_what_its_batches_take(tmp_path):
    source = Path(sampling.__file__).with_name("computes.c")
    program = tmp_path / "computes"
    subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-o", program, source], check=True)
    done = subprocess.run([program, "2"], capture_output=True, text=True, check=True)
    batches = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    assert len(batches) == 2
    assert all(0.01 < own < 20 and abs(others) < 0.001 and passed >= own - 0.001 for own, others, passed in batches)
