"""What is predicted of one run or of several on one machine, as Paraver sees it: two arrows for each message."""

from pathlib import Path

import pytest

import analyzer
from analyzer.cli import main
from analyzer.replay import Machine, program_of, simulate
from analyzer.replay.machine import Network, Node

EPOCH = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "epoch"
MACHINE = """
dialect = "{dialect}"
[network]
bandwidth_mb = 100
buses = 1
[[node]]
count = 4
cpus = 1
latency_us = 10
"""
HEAD = '#DIMEMAS:"pair":1,{at}:2(1,1),1\nd:1:1:2:0:1\n'
BODY = """1:0:0:{burst}
2:0:0:1:1048576:7:1:0
1:1:0:0.000000000
3:1:0:0:1048576:7:1:0
"""


def write_pair(path, burst):
    """Task 0 computes, and sends 2^20 bytes to task 1."""
    body = BODY.format(burst=burst)
    at = 0
    while len(HEAD.format(at=at)) + len(body) != at:
        at = len(HEAD.format(at=at)) + len(body)
    second = at - len(body) + body.index("1:1:0")
    path.write_text(HEAD.format(at=at) + body + f"s:0:{at - len(body)}\ns:1:{second}\n")
    return str(path)


@pytest.mark.parametrize("dialect", ["thesis", "dimemas-5.5"])
def test_two_lists_and_two_arrows(dialect, tmp_path):
    """Rows 6 and 7, both dialects: the second application's message is ready at 12 us, and has the one bus when the
    first one's, which took it at 11 us, is there: 10 ms later."""
    first, second = (write_pair(tmp_path / f"{k}.dim", f"0.00000{k}000") for k in (1, 2))
    (tmp_path / "m.toml").write_text(MACHINE.format(dialect=dialect))
    out = str(tmp_path / "both.prv")
    assert main(["replay", first, "--app", second, "--machine", str(tmp_path / "m.toml"), "-o", out, "-q"]) == 0
    lines = Path(out).read_text().splitlines()
    assert lines[0].endswith(":20011000_ns:4(1,1,1,1):2:2(1:1,1:2):2(1:3,1:4),6")
    assert [line for line in lines if line.startswith("3:")] == [
        "3:0:1:1:1:1000:11000:0:1:2:1:0:10011000:1048576:7",
        "3:0:2:1:1:2000:10011000:0:2:2:1:0:20011000:1048576:7",
    ]
    assert "1:0:2:1:1:0:2000:1" in lines  # running
    assert {p.suffix for p in tmp_path.iterdir()} == {".dim", ".toml", ".prv", ".pcf", ".row"}
    again = analyzer.open(out)
    assert again.applications == (2, 2) and again.size == 4 and not again.problems


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not here")
def test_each_message_leaves_when_it_had_its_links(tmp_path):
    """Of a published trace: the starts that the simulator says, one for each message, and none before its call."""
    trace = EPOCH / "epoch_4proc.prv.gz"
    options = ["--latency", "20us", "--bandwidth", "100MB/s", "--buses", "1", "--links", "1", "--eager", "32k"]
    assert main(["replay", str(trace), *options, "-o", str(tmp_path / "x.prv"), "-q"]) == 0
    found = analyzer.open(tmp_path / "x.prv").messages()
    node = Node(latency_s=20e-6, links_in=1, links_out=1)
    machine = Machine(node=node, networks=(Network(100.0, 1),), eager_limit=32768)
    carried = simulate(program_of(analyzer.open(trace)), machine, transfers=True).transfers
    assert sorted(found["physical_send"].tolist()) == sorted(carried["start"][carried["start"] >= 0].tolist())
    assert (found["physical_send"] > found["logical_send"]).all()
    assert ((found["physical_send"] < found["physical_receive"]) | (found["size"] == 0)).all()
