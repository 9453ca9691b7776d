"""The kernels under AddressSanitizer and UBSan: those that walk furthest touch no memory that is not theirs."""

import pytest
from sanitized import ROOT, build, run

from csrc.build_kernels import GENERATED, KERNELS, REPLAY, SOURCES, ffi

pytestmark = pytest.mark.long

WALKS = (
    "test_progressions",
    "test_translation",
    "test_slots",
    "test_clock",
    "test_critical_ways",
    "test_ranks_together",
    "test_symbols_of_calls",
    "test_waits_polls",
    "test_cluster",
    "test_runs",
    "test_windowed",
)
PYTEST = "import pytest; sys.exit(pytest.main(sys.argv[3:]))"
QUIETLY = ("-q", "-p", "no:cacheprovider", "--hypothesis-profile=few")
FUZZ = "from fuzz.__main__ import main; sys.exit(main(sys.argv[3:]))"
KINDS = ("folder", "runtime", "compressed", "plain", "threads", "spool", "prv", "prv-threads", "dim", "dim-any")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The kernels with sanitizers."""
    path = tmp_path_factory.mktemp("sanitized") / "_kernels.abi3.so"
    build(ffi, path, SOURCES, [KERNELS, REPLAY, GENERATED])
    return path


def test_walks(library):
    files = [str(path) for name in WALKS for path in (ROOT / "tests").rglob(f"{name}.py")]
    assert len(files) == len(WALKS)
    assert " passed" in run("analyzer._kernels", library, PYTEST, *QUIETLY, *files)


def test_damaged_files(library, tmp_path):
    """Through what kernels read them, and what walks over what was read."""
    words = ("--no-limit", "-n", "40", "--seed", "3", "-o", str(tmp_path), "--kind", *KINDS)
    assert "failures: none" in run("analyzer._kernels", library, FUZZ, *words)
