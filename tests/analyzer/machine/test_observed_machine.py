"""The machine of a run, from its own messages: what was planted in them is found, and a replay takes as long."""

from dataclasses import replace

import pytest
from planted_network import LATENCY_NS, NS_PER_BYTE, Planted, both_ways

from analyzer.cli import main
from analyzer.machine.observed_machine import own_machine
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.simulate import simulate


@pytest.mark.parametrize("dialect", ["standard", "dimemas-5.5", "thesis"])
def test_a_message_takes_as_long_as_in_the_run(dialect):
    """A message takes LATENCY_NS, and NS_PER_BYTE for each byte; one of 8 bytes is all latency. The receiver waits."""
    machine = replace(own_machine(both_ways(Planted()).trace(), Team()), dialect=dialect)
    for size in (0, 1 << 20):
        send = {"kind": OperationKind.SEND, "peer": 1, "bytes": size, "flags": OperationFlag.IMMEDIATE}
        program = Program.from_streams(
            [operations(send), operations({"kind": OperationKind.RECV, "peer": 0, "bytes": size})]
        )
        way = simulate(program, machine).end_ns
        assert way == pytest.approx(LATENCY_NS + NS_PER_BYTE * size, rel=0.01)


def test_a_run_may_not_show_it(tmp_path, capsys):
    """Two messages are too few; a Dimemas trace has no times, so nothing to compare with either."""
    few = both_ways(Planted(), number=2).trace()
    assert own_machine(few, Team()) is None
    records = "1:{0}:0:0.001\n2:{0}:0:{1}:8:0:0:0\n3:{0}:0:{1}:8:0:0:0\n"
    head = '#DIMEMAS:"two":0:2(1,1),0\n'
    path = tmp_path / "two.dim"
    path.write_text(head + records.format(0, 1) + records.format(1, 0))
    assert own_machine(open_trace(path), Team()) is None
    assert main(["sensitivity", str(path)]) == 1
    assert "do not show its network (name one: --machine m.toml, or --latency 5us" in capsys.readouterr().err
    assert main(["limits", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "do not show its network; name one" in said
    assert "Apart from its network, the run is limited by computation: 1.00 ms (100.0 %) of 1.00 ms" in said
    for command in (["limits", "--quick"], ["sensitivity", "--sweep", "latency=1us..2us:2", "-o", str(tmp_path)]):
        assert main([*command, str(path), "--latency", "5us", "--bandwidth", "1GB/s"]) == 0
        said = capsys.readouterr().out
        assert "1.01 ms" in said
        assert "measured" not in said
        assert "took" not in said
