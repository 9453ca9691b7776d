"""The example of docs/extending.md as a package of its own: pip installs it, and `analyze` reads its files."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from paths import DOCS, ROOT

PLUGIN = ROOT / "tests" / "plugin"
CSV = re.findall(r"^```csv\n(.*?)^```$", (DOCS / "extending.md").read_text(), re.MULTILINE | re.DOTALL)[0]


def test_the_page_shows_the_file():
    assert (
        f"```python\n{(PLUGIN / 'tracelib_demo' / 'calls_csv.py').read_text()}```"
        in (DOCS / "extending.md").read_text()
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Environment in which the package is installed, as its users install it."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, folder / "package")
    target = folder / "installed"
    words = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", *words, "--target", str(target), str(folder / "package")]
    subprocess.run(pip, check=True, capture_output=True, timeout=300)
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(target), str(ROOT), str(ROOT / "tests")])}


def run(environment, *words, folder):
    """Run a module of Python; return its exit code and all that it said."""
    done = subprocess.run(
        [sys.executable, "-m", *words], env=environment, cwd=folder, capture_output=True, text=True, timeout=600
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("words", [("-q",), ("waits",), ("report", "-o", "page.html")])
def test_analyze(installed, tmp_path, words):
    (tmp_path / "calls.csv").write_text(CSV)
    code, said = run(installed, "analyzer.cli", *[w for w in words if w != "-q"], "calls.csv", folder=tmp_path)
    assert code == 0, said
    assert not list(tmp_path.glob("*.prv"))  # it is no run of ours, beside which files are written
    if words == ("waits",):
        assert "1.00 ms" in said or "2.00 ms" in said


def test_a_damaged_file_is_one_line(installed, tmp_path):
    (tmp_path / "calls.csv").write_text(CSV.replace("0.003,", "x,"))
    code, said = run(installed, "analyzer.cli", "look", "--no-files", "calls.csv", folder=tmp_path)
    assert code == 1 and "Traceback" not in said and "damaged" in said


def test_an_unknown_file_names_its_format(installed, tmp_path):
    (tmp_path / "x").write_text("nothing\n")
    code, said = run(installed, "analyzer.cli", "look", "--no-files", "x", folder=tmp_path)
    assert code == 1 and "a CSV of calls (.csv)" in " ".join(said.split()) and "OTF2" in said


@pytest.mark.parametrize("fault", ["import nothing_of_this_name\n", "SOURCE = 3\n", "1 / 0\n"])
def test_a_broken_package_is_one_line(installed, tmp_path, fault):
    """It comes first in the path; a trace of another format is not touched by it."""
    package = tmp_path / "broken" / "tracelib_demo"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "calls_csv.py").write_text(fault)
    environment = installed | {"PYTHONPATH": os.pathsep.join([str(package.parent), installed["PYTHONPATH"]])}
    (tmp_path / "calls.csv").write_text(CSV)
    code, said = run(environment, "analyzer.cli", "look", "--no-files", "calls.csv", folder=tmp_path)
    assert code == 1 and "Traceback" not in said and "the source calls-csv" in " ".join(said.split())
    assert run(environment, "analyzer.cli", "--help", folder=tmp_path)[0] == 0


def test_the_fuzzer_damages_its_example(installed, tmp_path):
    support = os.pathsep.join(str(ROOT / "tests" / name) for name in ("support", "support/reference"))
    environment = installed | {"PYTHONPATH": os.pathsep.join([installed["PYTHONPATH"], support])}
    words = ["fuzz", "-n", "25", "--kind", "source-calls-csv", "-o", str(tmp_path / "failed")]
    code, said = run(environment, *words, folder=ROOT)
    assert code == 0, said


def test_help_does_not_import_what_is_slow(installed, tmp_path):
    code = (
        "import sys\nfrom analyzer.sources.registry import formats_text\nformats_text()\nprint('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=installed, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "False\n", done.stderr
