"""Real traces in pairs and on half of their processors: by hand, and of four runs of the NAS benchmarks."""

import subprocess
import sys

import pytest
from paths import ROOT, SHARED

from analyzer.cli import main
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from benchmarks.scheduling.real import folds, pairs, read, real_verdicts

MS = 1_000_000
NOT_SO = (
    ("E8", "gains half again as much as batch, on average (to 10 %)"),
    ("E9", "is faster interleaved than with neighbours"),
    ("E9", "is the fastest, interleaved"),
)
"""Claims that are false of these traces: docs/scheduling.md says why."""


def computing(*times_ms):
    """Tasks that compute and never meet."""
    return Program.from_streams(
        [operations({"kind": OperationKind.NONE, "burst": time * MS}) for time in times_ms], name="computing"
    )


def test_a_fold_by_hand():
    """Tasks of 4, 4, 1 and 1 ms: the first two on one processor take 8 ms, one of each kind 5."""
    found = folds({"one": computing(4, 4, 1, 1)})
    for policy in found.values():
        fold = policy["one"]
        assert (fold.whole_s, fold.neighbours_s, fold.interleaved_s) == (0.004, 0.008, 0.005)
        assert fold.whole_used == pytest.approx(10 / 16)
        assert (fold.neighbours_used, fold.interleaved_used) == pytest.approx((10 / 16, 1.0))


def test_a_pair_by_hand():
    """Two of 2 ms share each processor: both take 4 ms in turns, as much as one after the other."""
    found = pairs({"one": computing(2, 2), "two": computing(2, 2)})
    assert set(found) == {"FIFO", "RR", "CP_FIFO", "CP_RR"}
    both = found["RR"]["one, two"]
    assert both.alone == (0.002, 0.002)
    assert both.together == pytest.approx((0.004, 0.004), rel=0.02)
    assert both.gain == pytest.approx(1, rel=0.02)


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """The four with priorities, made as docs/scheduling.md says."""
    if not (SHARED / "dimemas").is_dir():
        pytest.skip("the four runs are not here")
    folder = tmp_path_factory.mktemp("traces")
    for name in ("bt", "cg", "is", "mg"):
        predicted = str(folder / f"{name}.prv")
        source = str(SHARED / "dimemas" / f"{name}.dim.gz")
        assert main(["replay", source, "--machine", "ideal", "-o", predicted, "-q"]) == 0
        assert main(["critical-path", predicted, "-o", str(folder / f"{name}.dim"), "-q"]) == 0
    return folder


def test_what_is_claimed_of_real_traces(traces):
    names = ("bt", "cg", "is", "mg")
    programs = dict(zip(names, read([str(traces / f"{name}.dim") for name in names]), strict=True))
    found = real_verdicts(programs, repetitions=4)
    assert {(v.claim.experiment, v.claim.text) for v in found if not v.holds} == set(NOT_SO)
    for name, program in programs.items():
        assert folds({name: program})["FIFO"][name].interleaved_used <= 1


def test_a_trace_without_priorities_is_refused(tmp_path):
    plain = tmp_path / "plain.dim"
    plain.write_text('#DIMEMAS:"plain":0:2(1,1),0\n1:0:0:0.1\n1:1:0:0.1\n')
    command = [sys.executable, "-m", "benchmarks.scheduling", "--traces", str(plain)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 2 and "plain.dim has no changes of priority" in ran.stderr, ran.stderr
    assert "Traceback" not in ran.stderr
