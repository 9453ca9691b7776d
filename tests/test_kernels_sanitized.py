"""The kernels under AddressSanitizer and UBSan: those that walk furthest touch no memory that is not theirs."""

from sanitized import ROOT, build, run

from csrc.build_kernels import GENERATED, KERNELS, ffi

REPLAY = ROOT / "csrc" / "replay"
WALKS = ("test_translation", "test_slots", "test_clock", "test_critical_ways", "test_waits_polls")
PYTEST = "import pytest; sys.exit(pytest.main(sys.argv[3:]))"


def test_walks(tmp_path):
    library = tmp_path / "_kernels.abi3.so"
    build(ffi, library, [*sorted(KERNELS.glob("*.c")), REPLAY / "pack.c"], [KERNELS, REPLAY, GENERATED])
    files = (str(ROOT / "tests" / f"{name}.py") for name in WALKS)
    assert " passed" in run("analyzer._kernels", library, PYTEST, "-q", "-p", "no:cacheprovider", *files)
