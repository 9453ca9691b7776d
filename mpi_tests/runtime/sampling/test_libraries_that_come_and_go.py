"""Samples have their places in libraries that were just opened, and after one was closed."""

import matrix
import numpy as np
import pytest
from conftest import source_of
from result import rank_files
from running import run
from sampled_runs import compile_alone, is_sample, run_alone

from tracelib import schema

MOST_WITHOUT_PLACE = 0.1
"""While dlclose runs nothing is looked at, and where others have the lock, either."""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """programs/reloads.c and eight libraries that it can open."""
    folder = tmp_path_factory.mktemp("reloads")
    libraries = [folder / f"libaway{i}.so" for i in range(8)]
    for library in libraries:
        words = ["cc", "-O2", "-shared", "-fPIC", source_of("reloaded.c"), "-o", library]
        run(words, folder, matrix.environment(), 60).check()
    return compile_alone("reloads.c", folder, "-ldl"), libraries


@pytest.mark.parametrize("act", ["open", "close"])
def test_no_sample_loses_its_place(program, tmp_path, act):
    program, libraries = program
    run_alone(tmp_path, program, act, *libraries, TRACELIB_SAMPLE="5ms", TRACELIB_SAMPLER="signal").check()
    tables = rank_files(tmp_path / "run.h5")[0].tables
    rows = tables["samples"][is_sample(tables["samples"])]
    innermost = tables["paths"][rows["path"]]
    lost = (rows["path"] == 0) | (innermost["module"] == 0) & (innermost["offset"] == schema.PATH_LOST)
    away = [row for row, path in enumerate(tables["modules"]["path"]) if b"libaway" in path]
    assert len(rows) > (60 if act == "open" else 240)
    assert lost.mean() < MOST_WITHOUT_PLACE
    assert len({*tables["modules"]["path"][away].tolist()}) > len(libraries) / 2  # a busy machine may leave one out
    assert np.isin(innermost["module"], away).mean() > 0.3
