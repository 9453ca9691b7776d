"""docs/python.md and its notebook: the code is run, and the columns equal the tables'."""

import json
import re
from contextlib import chdir

import public_names
import pytest
from marked import LABELS
from notebooks import code, outputs, visible
from paths import DOCS
from python_tasks import TASK, printed, write_runs
from synthetic import WORLD, call, label, write_run

import analyzer
from analyzer.opening import open_trace
from benchmarks.synthetic.run import write_run as write_pattern
from tracelib.schema import LabelKind

PAGE = (DOCS / "python.md").read_text()
NOTEBOOK = json.loads((DOCS / "python.ipynb").read_text())
UNLISTED = {"NAME_inside", "NAME_before"}


def test_the_code_of_the_page(tmp_path):
    names = {}
    with chdir(tmp_path):
        write_pattern(tmp_path, "halo", 4, 100)
        exec(re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1], names)
    assert len(names["late"]) and names["late"].min() > 0.001


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    write_runs(folder)
    return folder


TASKS = [found.groups("") for found in TASK.finditer(PAGE)]


def test_there_are_ten_tasks_of_five_lines():
    assert len(TASKS) == 10 and max(len(code.splitlines()) for _, code, _ in TASKS) <= 5


@pytest.mark.parametrize(("title", "code", "output"), TASKS, ids=[title for title, _, _ in TASKS])
def test_what_a_task_prints(runs, title, code, output):
    with chdir(runs):
        assert printed(code) == output


def test_the_list_of_public_names():
    """A change of the interface is a change of docs/public.txt (tests/support/public_names.py writes it)."""
    assert public_names.text() == public_names.LIST.read_text()


def test_every_column_is_described(tmp_path):
    """Columns of a run without counters; a parameter called tag is a column of its own."""
    labels = [*LABELS, label(LabelKind.PARAMETER, 1, "n"), label(LabelKind.PARAMETER, 2, "depth")]
    trace = open_trace(write_run(tmp_path, [{"calls": [call("MPI_Barrier", 5, 9, comm=WORLD)], "labels": labels}]))
    for table in analyzer.Tables(trace):
        section = PAGE.split(f"| `tables.{table.name}` |")[1].split("\n\n")[0]
        described = [name for line in section.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])]
        own = [name for name in table.to_pandas().columns if name not in ("n", "parameter_depth")]
        assert sorted(set(described) - UNLISTED) == sorted(own)
    assert {"n", "parameter_depth"} <= set(analyzer.Tables(trace).regions.to_pandas().columns)


def test_the_notebook_shows_what_it_does():
    kept = [cell["outputs"][0]["data"] if cell["outputs"] else {} for cell in code(NOTEBOOK)]
    assert [visible(data) for data in kept] == [visible(data) for data in outputs(NOTEBOOK)]
