"""No C source has a warning; on a user's compiler, which may know new ones, they are not errors."""

import subprocess
from pathlib import Path

import pytest

from csrc import build_kernels, build_ngmpi, build_runtime, rooms

FOLDERS = {
    "kernels": ("kernels", "replay"),
    "ngmpi": ("ngmpi", "runtime"),
    "replay": ("replay",),
    "runtime": ("runtime",),
}
"""The tree of a source, and where it finds what it includes."""


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """All generated sources: wrappers.c and the headers."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "records.h").write_text(build_kernels.records_header())
    build_ngmpi.write_headers(folder)
    return folder


def warnings_of(source: Path, generated: Path, tree: str, optimize: str = "-O2") -> str:
    folders = (*(rooms.CSRC / name for name in FOLDERS[tree]), build_runtime.INCLUDE, generated)
    command = ["cc", "-std=gnu11", optimize, "-Wall", "-Wextra", "-c", "-o", "/dev/null", *(f"-I{f}" for f in folders)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True)
    return done.stderr


@pytest.mark.parametrize(
    ("tree", "source"),
    [(tree, path) for tree in FOLDERS for path in rooms.sources(tree)],
    ids=lambda of: getattr(of, "name", of),
)
def test_no_warning(source, tree, generated):
    assert warnings_of(source, generated, tree) == ""


def test_no_warning_in_the_wrappers(generated):
    assert warnings_of(generated / "wrappers.c", generated, "runtime", "-O0") == ""


def test_the_check_sees_a_warning(tmp_path, generated):
    source = tmp_path / "unused.c"
    source.write_text("static int unused;\n")
    assert "unused" in warnings_of(source, generated, "runtime")
