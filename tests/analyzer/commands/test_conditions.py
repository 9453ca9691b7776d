"""`--fail-if` and `--badge`: exit codes, and lines that say which condition held, with its values."""

import json
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.commands.shared.conditions import flat
from analyzer.report.badge import Badge, content, of_change, of_efficiency

US = 1000


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """Two ranks, one computes 100 us of 100 us, the other none: 50 % efficient, but for what calls take."""
    ranks = [
        {"calls": [call("MPI_Barrier", enter, 100 * US, comm=WORLD), call("MPI_Finalize", 100 * US, 100 * US + 1)]}
        for enter in (0, 100 * US - 1)
    ]
    return str(write_run(tmp_path_factory.mktemp("half"), ranks))


def judged(capsys, *words):
    code = main(["look", "--no-files", *words, "-q"])
    return code, capsys.readouterr().err.splitlines()


def test_a_condition_that_holds_is_said_with_its_values(half, capsys):
    code, lines = judged(capsys, half, "--fail-if", "efficiency < 0.9")
    assert code == 1 and lines == ["Failed: efficiency < 0.9 (efficiency is 0.5)"]


@pytest.mark.parametrize(
    "text, code",
    [
        ("efficiency < 0.4", 0),
        ("efficiency < 51 %", 1),
        ("efficiency < 49%", 0),
        ("efficiency > 0.49 and load_balance < 51 %", 1),
        ("efficiency.parallel_efficiency <= 0.5001", 1),
        ("calls.MPI_Barrier.count == 2", 1),
        ("calls.MPI_Barrier.count % 2 == 1", 0),
        ("ranks != 2", 0),
        ("not ranks in (2, 4)", 0),
        ("max(efficiency, 0.7) > 0.6", 1),
        ("runtime_s > 1", 0),
    ],
)
def test_conditions_hold_or_do_not(half, capsys, text, code):
    found, lines = judged(capsys, half, "--fail-if", text)
    assert found == code and len(lines) == code


def test_each_condition_that_holds_has_a_line(half, capsys):
    texts = ("ranks == 2", "ranks == 3", "efficiency < 1")
    code, lines = judged(capsys, half, *(word for text in texts for word in ("--fail-if", text)))
    assert code == 1 and [line.partition(" (")[0] for line in lines] == ["Failed: ranks == 2", "Failed: efficiency < 1"]


@pytest.mark.parametrize(
    "text, said",
    [
        ("eficiency < 0.9", "did you mean efficiency"),
        ("nothing_of_it > 1", "no nothing_of_it"),
        ("efficiency <", "is no condition"),
        ("efficiency", "is no condition"),
        ("__import__('os').system('true')", "--fail-if"),
        ("(lambda: 1)() == 1", "--fail-if"),
        ("[x for x in (1, 2)] == 1", "--fail-if"),
        ("left_out == 1", "is not known"),
        ("", "is no condition"),
    ],
)
def test_what_cannot_be_judged_is_one_line_and_exit_code_2(half, capsys, text, said):
    code, lines = judged(capsys, half, "--fail-if", text)
    assert code == 2 and len(lines) == 1 and said in lines[0]


def test_badges_are_files_that_browsers_and_shields_read(half, tmp_path, capsys):
    svg, endpoint = tmp_path / "badge.svg", tmp_path / "badge.json"
    assert judged(capsys, half, "--badge", str(svg))[0] == 0
    assert judged(capsys, half, "--badge", str(endpoint))[0] == 0
    assert json.loads(endpoint.read_text()).items() >= {"schemaVersion": 1, "message": "50.0 %"}.items()
    assert set(json.loads(endpoint.read_text())) == {"schemaVersion", "label", "message", "color"}
    texts = [element.text for element in Xml.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["parallel efficiency", "50.0 %"]
    for one in (svg, endpoint):  # which it replaces, but nothing that is not a badge
        assert judged(capsys, half, "--badge", str(one))[0] == 0
    svg.write_text("mine")
    assert judged(capsys, half, "--badge", str(svg))[0] == 1 and svg.read_text() == "mine"


def test_a_badge_is_written_before_a_condition_fails(half, tmp_path, capsys):
    badge = tmp_path / "badge.json"
    assert judged(capsys, half, "--badge", str(badge), "--fail-if", "ranks == 2")[0] == 1
    assert json.loads(badge.read_text())["color"] == "b3261e"


@settings(max_examples=30)
@given(st.text(), st.text())
def test_any_text_is_well_formed(label, message):
    cleaned = [text.encode("utf-8", "replace").decode() for text in (label, message)]
    printable = ["".join(c for c in text if c.isprintable()) for text in cleaned]
    badge = Badge(*printable, "#555555")
    assert Xml.fromstring(content(badge, Path("x.svg"))) is not None
    assert json.loads(content(badge, Path("x.json")))["label"] == printable[0]


def test_colours_follow_the_verdict():
    assert of_efficiency(0.95).colour != of_efficiency(0.4).colour
    assert of_efficiency(None).message == "not known"
    assert of_change(0.2, sure=True, noise=False).message == "+20.0 %"
    assert of_change(-0.2, sure=True, noise=False).colour == of_efficiency(1.0).colour
    assert of_change(0.2, sure=False, noise=True).message == "+20.0 %, noise"
    assert of_change(0.2, sure=False, noise=False).message == "+20.0 %, not sure"


def luminance(colour):
    """Relative luminance of WCAG 2.1."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("value", [0.95, 0.85, 0.75, 0.6, 0.2, None])
def test_white_text_is_readable_on_every_colour(value):
    assert 1.05 / (luminance(of_efficiency(value).colour) + 0.05) >= 4.5


def test_names_are_joined_by_dots():
    data = {"a": {"b c": 1, "d": [1, 2]}, "e": None, "f": {"50": 2.0}}
    assert dict(flat(data)) == {"a.b_c": 1, "e": None, "f.50": 2.0}
