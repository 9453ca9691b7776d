"""The commands of the tutorials, as they stand in their pages."""

import os
import shutil
import sys
from pathlib import Path

import matrix
import pytest
from apps.debian import version

from benchmarks.tutorials import PAGES, PICTURES, Block, blocks, prepared, run

pytestmark = pytest.mark.long

NEEDS = {"heat": None, "lammps": "lammps", "mpi4py": None}


@pytest.mark.parametrize("name", PICTURES)
def test_every_command_of_a_tutorial_works(openmpi, tmp_path, name):
    if NEEDS[name] and not version(NEEDS[name]):
        pytest.skip(f"{NEEDS[name]} is not installed")
    environment = dict(matrix.environment(openmpi, python=True))
    folders = (Path(sys.executable).parent, Path(openmpi.mpirun).parent, environment.get("PATH", os.environ["PATH"]))
    environment["PATH"] = os.pathsep.join(map(str, folders))
    folder = prepared(tmp_path)
    found = list(blocks((PAGES / f"{name}.md").read_text()))
    assert len(found) >= 3
    for block in found:
        printed = run(block, folder, environment)
        if block.shown:
            assert block.output(printed)
    assert (folder / PICTURES[name]).read_bytes().startswith(b"\x89PNG")


def test_every_tutorial_is_among_them():
    assert {path.stem for path in PAGES.glob("*.md")} == set(PICTURES) == set(NEEDS)
    assert all((PAGES.parent / "pictures" / f"tutorial-{name}.png").exists() for name in PICTURES)
    assert shutil.which("bash")


def test_lines_are_chosen_as_the_page_says():
    page = "```sh\nseq 9\n```\n\n<!-- output: 1-2, 5 -->\n```text\nold\n```\n\nafter\n\n```sh\ntrue\n```\n"
    one, other = blocks(page)
    assert one.output("a\nb\nc\nd\ne\nf\n") == "a\nb\n...\ne\n...\n"
    assert page[one.begin : one.end] == "old\n" and other == Block("true\n")
