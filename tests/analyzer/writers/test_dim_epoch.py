"""Real traces of a real code: our .dim replays to the very nanosecond that Dimemas itself published."""

import pytest
from ideal_replay import replay
from paths import EPOCH

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.writers.dim import write_dim

pytestmark = pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces of the data folder are not here")


def column(name: str) -> dict[int, float]:
    """A row of expected.csv by number of processes."""
    lines = [line.split(";") for line in (EPOCH / "expected.csv").read_text().splitlines()]
    ranks = [int(n) for n in lines[0][1:]]
    row = next(line for line in lines if line[0] == name)
    return dict(zip(ranks, map(float, row[1:]), strict=True))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ideal_runtime(tmp_path, ranks):
    """Dimemas 5.5.0 with -S 32k on an ideal machine; `expected.csv` prints two decimals of a microsecond."""
    trace = open_trace(EPOCH / f"epoch_{ranks}proc.prv.gz")
    write_dim(trace, tmp_path / "epoch.dim", Team())
    ends = replay(tmp_path / "epoch.dim", eager_bytes=32768)
    assert max(ends) == {1: 21884758971, 2: 11504370091, 4: 6051059081}[ranks]
    assert f"{max(ends) / 1000:.2f}" == f"{column('#Runtime (ideal)')[ranks]:.2f}"


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_longest_sum_of_bursts(tmp_path, ranks):
    trace = open_trace(EPOCH / f"epoch_{ranks}proc.prv.gz")
    write_dim(trace, tmp_path / "epoch.dim", Team())
    sums = dict.fromkeys(range(ranks), 0)
    for line in (tmp_path / "epoch.dim").read_text().splitlines():
        if line.startswith("1:"):
            _, task, _, seconds = line.split(":")
            sums[int(task)] += round(float(seconds) * 1e9)
    assert f"{max(sums.values()) / 1000:.2f}" == f"{column('#Useful duration (ideal, max)')[ranks]:.2f}"
