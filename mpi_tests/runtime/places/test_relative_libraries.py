"""Libraries that were found by a relative path: their places are known from anywhere, wherever the program went."""

import os
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from analyzer.opening import open_trace
from analyzer.trace import CallPaths


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_a_plugin_and_a_preload_by_relative_paths(request, compiled, traced, tmp_path, monkeypatch, debian):
    """One is opened as ./plugin.so, one preloaded as ./tool.so; the program goes to another folder before it calls."""
    leg = request.getfixturevalue(debian)
    shutil.copy(compiled(leg, "plugin.c", "-shared", "-fPIC"), tmp_path / "plugin.so")
    shutil.copy(compiled(leg, "other_tool.c", "-DNEXT", "-shared", "-fPIC", "-ldl"), tmp_path / "tool.so")
    program = compiled(leg, "opens_plugin.c", "-ldl")
    traced(leg, program, "./plugin.so", "now", "leave", ranks=1, env={"LD_PRELOAD": "./tool.so"})
    with h5py.File(tmp_path / "run.ranks" / "000000.h5") as file:
        modules = {Path(os.fsdecode(row["path"])).name: row for row in file["modules"][1:]}
    for name in ("plugin.so", "tool.so"):
        assert modules[name]["path"] == os.fsencode(tmp_path / name)
        assert modules[name]["build_id"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    trace = open_trace(str(tmp_path / "run.h5"))
    places = trace.extra(CallPaths).named()
    paths = set(np.concatenate(list(trace.extra(CallPaths).of(0))).tolist())
    frames = {(Path(f.file).name, f.function) for path in paths for f in places.frames(path)}
    assert ("plugin.c", "send_some") in frames
