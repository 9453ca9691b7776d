"""A category of procedures as docs/extending.md adds one: in a copy of the sources, generated and compiled."""

import re
import shutil
import subprocess
import sys

import pytest
from paths import DOCS, ROOT

SECTION = (DOCS / "extending.md").read_text().partition("## A new category of procedures")[2].partition("\n## ")[0]
NO_SOURCES = shutil.ignore_patterns("__pycache__", "*.so", "_functions.py")
PROCEDURES = ("MPI_Session_get_num_psets", "MPI_Session_get_nth_pset", "MPI_Session_get_pset_info")


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
    return found


def run(command, folder):
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def python(code, folder):
    return run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {code}"], folder)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the sources with the category, in which C was generated."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("csrc", "tracelib"):
        shutil.copytree(ROOT / name, copy / name, ignore=NO_SOURCES)
    with (copy / "tracelib" / "schema" / "procedures.toml").open("a") as table:
        table.write("\n" + block("toml"))
    (copy / "csrc" / "generate" / "bodies" / "process_sets.py").write_text(block("python"))
    (copy / "csrc" / "runtime" / "calls" / "process_sets.h").write_text(block("c"))
    python("from pathlib import Path; from csrc import build_runtime; build_runtime.generate(Path('made'))", copy)
    return copy


@pytest.mark.parametrize("name", PROCEDURES)
def test_its_wrappers_decode_it(tree, name):
    text = (tree / "made" / "wrappers.c").read_text()
    body = re.search(rf"^word {name}\(.*?^}}", text, re.MULTILINE | re.DOTALL)[0]
    number = "(int)n" if name == "MPI_Session_get_nth_pset" else "-1"
    assert f"record_process_set(&f, {number});" in body
    assert f"[CALL_{name}] = CLASS_SESSION," in text


def test_its_class_can_be_selected(tree):
    text = (tree / "made" / "call_classes.h").read_text()
    members = re.search(r"enum call_class \{(.*?)\}", text, re.DOTALL)[1].replace(" ", "").split(",")
    assert [m.strip() for m in members[-3:]] == ["CLASS_SESSION", "CLASS_ALWAYS", "CALL_CLASSES"]
    assert '[CLASS_SESSION] = "session"' in text and "other and session" in text


def test_it_compiles(tree):
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    folders = ["-Icsrc/runtime", "-Itracelib/include", "-Imade"]
    for source in ("made/wrappers.c", "csrc/runtime/select/wanted_calls.c"):
        run(["cc", *flags, *folders, source], tree)


def test_python_knows_its_family(tree):
    code = "from tracelib.schema.procedures import in_families; print(*sorted(in_families('process_set')))"
    assert python(code, tree).split() == sorted(PROCEDURES)


def test_the_pages_have_it(tree):
    code = "from csrc.generate import coverage; print(coverage.classes_sentence()); print(coverage.page({}))"
    said = python(code, tree)
    assert "and `session` (questions about process sets)." in said
    assert all(f"| {name} |" in said for name in PROCEDURES)


def test_the_rooms_allow_it(tree):
    run([sys.executable, "csrc/check_rooms.py"], tree)
