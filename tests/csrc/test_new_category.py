"""A category of procedures as docs/extending.md adds one: in a copy of the sources, generated and compiled.

The analyses of the copy count its calls by the rows of the table alone.
"""

import json
import re
import shutil
import subprocess
import sys

import pytest
from paths import DOCS, ROOT

SECTION = (DOCS / "extending.md").read_text().partition("## A new category of procedures")[2].partition("\n## ")[0]
NO_SOURCES = shutil.ignore_patterns("__pycache__", "*.so", "_functions.py")
COUNTED = """
import json
import numpy as np
from analyzer.efficiency.analysis import efficiencies
from analyzer.parallel import Team
from analyzer.trace import CALL
from analyzer.trace.call_trace import CallTrace
from analyzer.trace.paraver import call_name
from analyzer.writers.paraver_labels import write_pcf
from analyzer.writers.prv import write_prv

def calls(*rows):
    found = np.zeros(len(rows), CALL)
    for column, values in zip(("enter", "exit", "call"), zip(*rows)):
        found[column] = values
    found["inside"], found["count"], found["comm"], found["peer"] = found["exit"] - found["enter"], 1, -1, -1
    return found

names = ("MPI_Session_get_num_psets", "MPI_Session_get_nth_pset")
ranks = [calls((1000, 2000, 0), (4000, 4000, 1)), calls((2000, 2000, 0), (3000, 4000, 1))]
trace = CallTrace("calls", names, ranks, spans=[(0, 4000), (0, 4000)])
types = write_prv(trace, "asked.prv")
write_pcf(trace, "asked.pcf", types)
factors = efficiencies(trace, Team()).efficiency
read = [call_name(50000006, value, {}) for value in (1, 2)]
print(json.dumps({"ideal_ns": factors.ideal.runtime_ns, "useful_ns": factors.useful_max_ns, "read": read,
                  "states": np.unique(trace.states()["state"]).tolist()}))
"""
"""Two ranks that compute 1000 ns and 2000 ns before a question, and 2000 ns and 1000 ns after it."""
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
    assert '[CLASS_SESSION] = "session"' in text and ' and session"' in text


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


def tell(tree, folder):
    """Run the analyses on two ranks that ask, with the table of a tree."""
    code = f"import sys; sys.path[:0] = [{str(tree)!r}]; sys.path.append({str(ROOT)!r})\n{COUNTED}"
    told = json.loads(run([sys.executable, "-c", code], folder))
    return told | {name: (folder / f"asked.{name}").read_text() for name in ("prv", "pcf")}


@pytest.fixture(scope="module")
def counted(tree):
    return tell(tree, tree)


def test_the_replay_and_the_efficiencies_wait_for_all(counted, tmp_path):
    """No rank computes longer than 3000 ns, but the longer parts are on different sides of the question.

    Without the row nobody waits for another.
    """
    assert (counted["useful_ns"], counted["ideal_ns"]) == (3000, 4000)
    assert tell(ROOT, tmp_path)["ideal_ns"] == 3000


def test_a_prv_has_its_own_events(counted):
    events = [line.split(":")[5:] for line in counted["prv"].splitlines() if line.startswith("2:")]
    asked = [line[line.index("50000006") :] for line in events if "50000006" in line]
    assert {values[1] for values in asked} == {"0", "1", "2"}
    values = re.search(r"50000006 +MPI Sessions\nVALUES\n0 .*\n1 +(\w+)\n2 +(\w+)", counted["pcf"]).groups()
    assert list(values) == counted["read"] == ["MPI_Session_get_num_psets", "MPI_Session_get_nth_pset"]


def test_its_calls_have_a_state(counted):
    assert counted["states"] == [1, 5]
