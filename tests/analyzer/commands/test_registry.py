"""Commands that other packages bring, among them the one of docs/extending.md, pasted in."""

import json
import re
import subprocess
import sys

import jsonschema
import pytest
from json_schemas import draft
from paths import DOCS, ROOT
from synthetic import WORLD, call, write_run

from analyzer.commands import registry
from analyzer.commands.command import Chooses, Refuses

(EXAMPLE,) = [
    block
    for block in re.findall(r"^```python\n(.*?)^```$", (DOCS / "extending.md").read_text(), re.MULTILINE | re.DOTALL)
    if "@command(" in block
]
RANKS = [
    {"calls": [call("MPI_Barrier", 0, 900, comm=WORLD), call("MPI_Bcast", 1000, 1100, comm=WORLD)]},
    {"calls": [call("MPI_Barrier", 800, 900, comm=WORLD), call("MPI_Bcast", 950, 1100, comm=WORLD)]},
]


@pytest.fixture
def installed(tmp_path):
    """A package with the command of the page, and one whose commands cannot be used."""
    folder = tmp_path / "packages"
    info = folder / "more_commands-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: more-commands\nVersion: 1.0\n")
    lines = ("longest = more_commands:longest", "absent = not_there:absent", "no-command = more_commands:longest_calls")
    (info / "entry_points.txt").write_text("\n".join(("[tracelib.commands]", *lines, "")))
    source = EXAMPLE.replace("    opens=Opens(),\n", '    opens=Opens(),\n    group="explain",\n')
    assert source != EXAMPLE
    (folder / "more_commands.py").write_text(source)
    return folder


def analyze(folder, *words, limit_s=120):
    """(exit code, standard output, standard error) of a process that sees the packages of a folder."""
    program = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(folder)!r}]; from analyzer.cli import command; command()"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=limit_s)
    return done.returncode, done.stdout, done.stderr


def test_the_command_of_the_page(installed, tmp_path):
    """The barrier takes rank 0 900 ns, the broadcast rank 1 150 ns."""
    run = str(write_run(tmp_path, RANKS))
    assert analyze(installed, "longest", run)[:2] == (
        0,
        "rank 0: MPI_Barrier, 900 ns\nrank 1: MPI_Bcast, 150 ns\n",
    )
    code, out, _ = analyze(installed, "longest", run, "--ranks", "1", "--json")
    data = json.loads(out)
    assert code == 0 and data["longest"][-1] == {"call": "MPI_Bcast", "s": 150e-9}
    jsonschema.validate(data, draft("longest", 1, [{"file": run, "longest": [{"call": "", "s": 1.5}]}]))


def test_the_command_of_the_page_refuses_places(installed, tmp_path):
    code, out, err = analyze(installed, "longest", str(write_run(tmp_path, RANKS)), "--place", "halo")
    assert (code, out) == (2, "")
    assert re.search(r": --place cannot be used here: \w.{10,}$", err.strip())


def test_help_lists_it_and_says_what_is_broken(installed):
    code, out, err = analyze(installed, "--help")
    explain = out.partition("Explain:")[2].partition("\n\n")[0]
    assert code == 0 and "longest" in explain
    assert len(err.splitlines()) == 2
    assert all(re.match(r"Error: the command (absent|no-command) of more-commands cannot be used: ", line)
               for line in err.splitlines())  # fmt: skip


@pytest.mark.parametrize("name", ["absent", "no-command"])
def test_a_broken_command_is_one_line(installed, name):
    code, out, err = analyze(installed, name, "run.h5")
    assert code and not out and len(err.splitlines()) == 1
    assert f"the command {name} of more-commands cannot be used: " in err


def test_old_names_work_on(tmp_path):
    run = str(write_run(tmp_path, RANKS))
    code, out, err = analyze(tmp_path, "info", run)
    assert code == 0 and err.splitlines()[0] == "analyze info is now analyze look --no-files"
    assert out == analyze(tmp_path, "look", run, "--no-files")[1]
    assert not list(tmp_path.glob("*.prv"))


@pytest.mark.parametrize("name", registry.places())
def test_each_command_says_its_policies(name):
    """One line that fits beside its name, and for places and ranks a choice or a reason."""
    spec = registry.find(name).spec
    assert 0 < len(spec.summary) <= 62 and "\n" not in spec.summary
    assert isinstance(spec.place, Chooses | Refuses)
    assert not isinstance(spec.place, Chooses) or spec.place.shown
    for policy in (spec.place, spec.ranks):
        assert not isinstance(policy, Refuses) or len(policy.why) > 10


def test_groups_and_first_commands_exist():
    assert set(registry.FIRST) <= set(registry.places())
    assert set(registry.places().values()) == set(registry.GROUPS)


@pytest.mark.parametrize(
    ("old", "now"),
    [(["--size", "10"], "--size is now --message-size"), (["--size=10"], "--size is now --message-size")],
)
def test_old_names_of_options_work_on(tmp_path, old, now):
    code, _, err = analyze(tmp_path, "ring", *old, "-o", str(tmp_path / "old.dim"), "-q")
    assert (code, err) == (0, f"analyze ring: {now}\n")
    assert analyze(tmp_path, "ring", "--message-size", "10", "-o", str(tmp_path / "new.dim"), "-q")[::2] == (0, "")
    assert (tmp_path / "old.dim").read_bytes() == (tmp_path / "new.dim").read_bytes()
