"""docs/views.md and docs/analyze-views.md: the ten questions are asked in both ways, and all names are described."""

import json
import re
from contextlib import chdir

import numpy as np
import pytest
from paths import DOCS

from analyzer import views
from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.views.compose import COMPOSE_FUNCTIONS
from analyzer.views.levels import LEVEL_FUNCTIONS
from analyzer.views.measuring import MEASURES
from analyzer.views.statistics import STATISTICS
from analyzer.views.thread.functions import thread_functions
from analyzer.views.view import OPERATIONS
from benchmarks.synthetic.run import write_run

PAGE = (DOCS / "views.md").read_text()
COMMAND = (DOCS / "analyze-views.md").read_text()
QUESTION = re.compile(
    r"### \d+\. (.*?)\n\n```python\n(.*?)```\n\n`(.*?)`:\n\n```toml\n(.*?)```\n\n```text\n\$ (.*?)\n(.*?)```\n",
    re.DOTALL,
)
QUESTIONS = QUESTION.findall(PAGE)
VALUES = {"rows": "columns", "profile": "mean", "histogram": "values"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("views")
    write_run(place, "halo", 8, 600)
    return place


def test_there_are_ten():
    assert len(QUESTIONS) == PAGE.count("\n### ") == 10


@pytest.fixture(scope="module")
def trace(folder):
    return views.ViewRun(open_trace(folder / "run.h5"))


@pytest.mark.parametrize(("title", "python", "name", "toml", "line", "said"), QUESTIONS, ids=[q[2] for q in QUESTIONS])
def test_a_question(title, python, name, toml, line, said, folder, trace, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / name).write_text(toml)
    assert len(toml.splitlines()) <= 10
    assert main(line.split()[1:]) == 0
    assert capsys.readouterr().out == said
    assert main([*line.split()[1:], "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["views"]
    names = {"views": views, "trace": trace}
    exec(python, names)
    answer = names["answer"]
    of_page = shown[VALUES[shown["show"]]]
    own = answer.columns if shown["show"] == "rows" else getattr(answer, VALUES[shown["show"]])
    for key in own if shown["show"] == "rows" else [slice(None)]:
        given = of_page[key] if shown["show"] == "rows" else of_page
        np.testing.assert_array_equal(np.array(given, float), own[key])


def test_the_beginning(folder):
    first = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    names = {}
    with chdir(folder):
        exec(first, names)
    assert names["table"].to_numpy().max() > 100


def test_every_function_is_described():
    described = set(re.findall(r"`([^`\n]+)`", PAGE))
    names = {*thread_functions(), *COMPOSE_FUNCTIONS, *LEVEL_FUNCTIONS, *MEASURES, *STATISTICS, *OPERATIONS}
    assert names - described == {"thread N"}


def test_the_view_of_the_command_s_page(folder, tmp_path):
    (tmp_path / "my.toml").write_text(re.search(r"```toml\n(.*?)```", COMMAND, re.DOTALL)[1])
    assert main(["views", str(folder / "run.h5"), "--view", str(tmp_path / "my.toml"), "-q"]) == 0
