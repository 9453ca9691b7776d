"""The study on the page: what it prints, and every shot against the closed forms of a cantilever beam."""

import csv
import re
import shutil
from math import pi

import numpy as np
import pytest
from paths import DOCS, ROOT
from scipy import stats

from analyzer.cli import main

PAGE = (DOCS / "analyze-study.md").read_text()
BEAM = ROOT / "examples" / "beam"


def test_the_page(tmp_path, monkeypatch, capsys):
    """Deflection P L^3 / 3 E I, frequency 1.8751^2 / 2 pi L^2 sqrt(E I / rho A); the page's text, but for the hosts."""
    monkeypatch.chdir(tmp_path)
    for file in BEAM.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    assert main(["study", "beam.toml"]) == 0
    said = capsys.readouterr().out
    shown = re.search(r"\$ analyze study beam.toml\n(.*?)```", PAGE, re.S)[1]
    assert without_hosts(said) == without_hosts(shown)
    with (tmp_path / "beam.study" / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    length, height, young, load, deflection, frequency = (
        np.array([float(row[name]) for row in rows])
        for name in ("length", "height", "young", "load", "deflection", "frequency")
    )
    moment, area = 0.05 * height**3 / 12, 0.05 * height
    assert len(rows) == 100
    assert deflection == pytest.approx(load * length**3 / (3 * young * moment), rel=1e-7)
    closed = 1.875104069**2 / (2 * pi * length**2) * np.sqrt(young * moment / (7850 * area))
    assert frequency == pytest.approx(closed, rel=1e-4)
    numbers = dict(re.findall(r"^(\S+(?: %)?) +(\S+)  ", said, re.M))
    assert float(numbers["mean"]) == pytest.approx(deflection.mean(), rel=1e-3)
    assert float(numbers["deviation"]) == pytest.approx(deflection.std(ddof=1), rel=1e-3)
    assert float(numbers["95 %"]) == pytest.approx(np.quantile(deflection, 0.95), rel=1e-3)
    line = re.search(r"^height .* ([-+]\d\.\d\d) +([-+]\d\.\d\d)$", said, re.M)
    assert float(line[1]) == pytest.approx(stats.spearmanr(height, deflection).statistic, abs=0.005)
    assert float(line[2]) == pytest.approx(stats.spearmanr(height, frequency).statistic, abs=0.005)


def without_hosts(text):
    return re.sub(r"host +shots.*?\n\n", "", text, flags=re.S).strip()


@pytest.mark.parametrize("name", ["beam.toml", "beam.job", "beam.dat"])
def test_the_files_on_the_page_are_those_of_the_example(name):
    assert f"\n{(BEAM / name).read_text()}```" in PAGE


def test_the_hosts_on_the_page_are_hosts(tmp_path):
    from analyzer.shots.hosts import HostsFile

    (block,) = (text for text in re.findall(r"```toml\n(.*?)```", PAGE, re.S) if "[hosts.here]" in text)
    (tmp_path / "hosts.toml").write_text(block)
    hosts = {host.name: host for host in HostsFile(tmp_path / "hosts.toml").hosts}
    assert list(hosts) == ["here", "alpha", "desk", "slurm", "pbs"]
    assert hosts["alpha"].line("ls 'a b'")[2] == """ssh -o BatchMode=yes alpha 'ls '"'"'a b'"'"''"""
    assert hosts["slurm"].batch.cancel == "scancel {{id}}"
