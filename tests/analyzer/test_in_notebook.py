"""Results in a notebook: by hand, and of a run."""

import re
from dataclasses import dataclass, field
from enum import Enum
from html.parser import HTMLParser

import numpy as np
import pytest
from paths import DOCS

import analyzer
from analyzer.critical.shares import PathShares
from analyzer.efficiency.analysis import efficiencies
from analyzer.in_notebook import InNotebook
from analyzer.machine.description import Machine
from analyzer.metrics.parallelism import parallelism
from analyzer.metrics.profile import profile
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.replay import replay
from analyzer.waits.analysis import analyze_waits
from benchmarks.synthetic.run import write_run as write_pattern


class Cells(HTMLParser):
    """Checks that what is opened is closed, and takes the rows of tables: of inner ones, too."""

    def __init__(self, html):
        super().__init__()
        self.open, self.rows, self._row = [], [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self._row.append([])
        if tag in ("td", "th"):
            self._row[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "tr":
            self.rows.append(self._row.pop())

    def handle_data(self, data):
        if self._row and self._row[-1]:
            self._row[-1][-1] += data


class Colour(Enum):
    RED = "bright red"


@dataclass
class Part(InNotebook):
    name: str
    time_ns: int


@dataclass
class Whole(InNotebook):
    share: float
    colour: Colour
    nothing: object
    parts: tuple
    values: np.ndarray
    many: np.ndarray
    named: dict
    hidden: int = field(default=3, repr=False)
    _own: int = 4


def test_by_hand():
    many = np.arange(40, dtype=np.int64).reshape(2, 20)
    parts = (Part("a < b", 1_500_000_000), Part("c", 1))
    shown = Whole(0.25, Colour.RED, None, parts, np.array([1.5, 2.0]), many, {"x_ns": 2_000})
    rows = Cells(shown._repr_html_()).rows
    assert ["share", "0.25"] in rows and ["colour", "bright red"] in rows and ["nothing", ""] in rows
    assert [row for row in rows if len(row) == 2][3:6] == [["name", "time (s)"], ["a < b", "1.5"], ["c", "1e-09"]]
    assert ["values", "1.5, 2"] in rows and ["many", "2 x 20 values, 0 to 39"] in rows
    assert ["x (s)", "2e-06"] in rows
    assert "hidden" not in shown._repr_html_() and "_own" not in shown._repr_html_()


def test_no_more_than_the_first_twenty():
    html = Whole(1.0, Colour.RED, None, tuple(Part(str(n), n) for n in range(50)), *[np.zeros(0)] * 2, {})._repr_html_()
    assert len([row for row in Cells(html).rows if row[0].isdigit()]) == 20 and "and 30 more" in html


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    trace = open_trace(write_pattern(tmp_path_factory.mktemp("run") / "run", "halo", 4, 100).path)
    yield trace
    trace.close()


def test_results_of_a_run(run):
    team = Team()
    totals = profile(run, team)
    found = efficiencies(run, team)
    shown = {
        "Trace": (run, ["ranks", "4"]),
        "Profile": (totals, ["procedures", ", ".join(totals.procedures)]),
        "Waits": (analyze_waits(run, team, totals), ["threads", "4"]),
        "Efficiencies": (found, ["file", run.path]),
        "Parallelism": (parallelism(run, team, 5), ["end (s)", f"{run.duration_ns / 1e9:.9g}"]),
        "replay": (replay(run, Machine.ideal()), None),
    }
    for name, (result, expected) in shown.items():
        rows = Cells(result._repr_html_()).rows
        assert len(rows) > 2, name
        assert expected is None or expected in rows, (name, rows)


def test_the_page_lists_every_kind_of_result():
    """And each that it lists has the display."""
    section = (DOCS / "python.md").read_text().split("## What a notebook shows")[1].split("\n## ")[0]
    listed = set(re.findall(r"`(\w+)`", section))
    assert PathShares.__mro__[1] is InNotebook and hasattr(analyzer.Trace, "_repr_html_")
    assert {one.__name__ for one in InNotebook.__subclasses__() if one.__module__.startswith("analyzer.")} <= listed
