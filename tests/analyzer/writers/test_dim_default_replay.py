"""A run and its .dim replay alike without options: the .dim says of each send whether it waits, as the run shows."""

import json
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from dim_lines import eager_limit
from hypothesis import given, settings
from hypothesis import strategies as st
from ideal_replay import replay
from memory_trace import MemoryTrace
from synthetic import WORLD, call, request, write_run

import analyzer
from analyzer.cli import main
from analyzer.machine.description import Network, Node
from analyzer.machine.write_cfg import cfg_text
from analyzer.metrics.eager import LEAST_EAGER
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.replay import Machine, program_of, simulate
from analyzer.writers.dim import write_dim
from tracelib.schema import RequestKind

SIZES = st.sampled_from([0, 8, LEAST_EAGER, LEAST_EAGER + 1, 4000, 4001, 70_000])
GAPS = st.tuples(st.integers(0, 90), st.integers(0, 90))
MESSAGES = st.tuples(st.sampled_from(["MPI_Send", "MPI_Ssend", "MPI_Isend", "to itself"]), SIZES, GAPS)
CROSSED = st.tuples(st.just("crossed"), st.sampled_from([0, 8, LEAST_EAGER, 4000]), GAPS)
STEPS = st.lists(st.tuples(st.integers(0, 8), MESSAGES | MESSAGES | CROSSED), max_size=20)
RANKS = 3
EAGER = 4000
"""Bytes that the MPI of these runs buffers; MPI_Ssend waits whatever the size."""


class _Run:
    """Rows of the calls and requests of each rank, in the order of time."""

    def __init__(self) -> None:
        self.now = [0] * RANKS
        self.calls = [[call("MPI_Init", 0, 1)] for _ in range(RANKS)]
        self.requests = [[] for _ in range(RANKS)]

    def enter(self, rank: int, name: str, exit: int, **columns) -> None:
        self.calls[rank].append(call(name, self.now[rank], exit, comm=WORLD, **columns))
        self.now[rank] = exit

    def message(self, name: str, a: int, b: int, size: int) -> None:
        sent, posted = self.now[a], self.now[b]
        waits = name == "MPI_Ssend" or (name == "MPI_Send" and size > EAGER)
        self.enter(a, name, 1 + (max(sent, posted) if waits else sent), peer=b, tag=1, sent=size)
        self.enter(b, "MPI_Recv", max(sent, posted) + 2, peer=a, tag=1, received=size)

    def to_itself(self, rank: int, size: int) -> None:
        posted = self.now[rank]
        self.enter(rank, "MPI_Irecv", posted + 1)
        self.enter(rank, "MPI_Send", posted + 3, peer=rank, tag=2, sent=size)
        self.enter(rank, "MPI_Wait", posted + 4)
        row = request(RequestKind.RECV_DONE, posted, posted + 4, peer=rank, tag=2, bytes=size)
        self.requests[rank].append(row)

    def crossed(self, a: int, b: int, size: int) -> None:
        """Both send before they receive."""
        for rank, peer in ((a, b), (b, a)):
            self.enter(rank, "MPI_Send", self.now[rank] + 1, peer=peer, tag=3, sent=size)
        for rank, peer in ((a, b), (b, a)):
            self.enter(rank, "MPI_Recv", max(self.now[a], self.now[b]) + 2, peer=peer, tag=3, received=size)


def written(steps, folder: Path) -> Path:
    run = _Run()
    run.now = [2] * RANKS
    for choice, (kind, size, gaps) in steps:
        a, b = choice % RANKS, (choice + 1 + choice // RANKS % (RANKS - 1)) % RANKS
        for rank, gap in zip((a, b), gaps, strict=True):
            run.now[rank] += gap
        if kind == "to itself":
            run.to_itself(a, size)
        elif kind == "crossed":
            run.crossed(a, b, size)
        else:
            run.message(kind, a, b, size)
    return write_run(folder, [{"calls": c, "requests": r} for c, r in zip(run.calls, run.requests, strict=True)])


@settings(max_examples=40)
@given(STEPS)
def test_a_run_and_its_dim_replay_alike(steps):
    """To the ns, each rank, ideally, with a network, and by the rules of Dimemas with one bus."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        trace = open_trace(written(steps, folder))
        write_dim(trace, folder / "x.dim", Team())
        run, read = program_of(trace, buffered=True), program_of(open_trace(folder / "x.dim"))
        assert eager_limit((folder / "x.dim").read_text()) == run.buffered + 1 == read.buffered + 1
        node = Node(latency_s=5e-8, links_in=1, links_out=1)
        for machine in (
            Machine.ideal(), Machine(node=node, networks=(Network(800.0),), mapping="round-robin"),
            Machine(node=node, networks=(Network(800.0, 1),), mapping="round-robin", dialect="dimemas-5.5"),
        ):  # fmt: skip
            ends = [simulate(program, machine).usage["end"].tolist() for program in (run, read)]
            assert ends[0] == ends[1]
            if machine == Machine.ideal():
                assert ends[0] == replay(folder / "x.dim"), "by a second simulator, which knows the records alone"
        trace.close()


def sends(text: str) -> dict[int, int]:
    """`sync` of the sends of rank 0 by size."""
    fields = [line.split(":") for line in text.splitlines() if line.startswith("2:0:0:")]
    return {int(f[4]): int(f[7]) for f in fields}


def test_the_records_say_which_sends_wait(tmp_path):
    """4000 bytes were gone before they were asked for. 0: blocking and eager, 1: blocking rendezvous, 2: immediate."""
    rows = [("MPI_Send", 10), ("MPI_Send", 4000), ("MPI_Send", 4001), ("MPI_Ssend", 11), ("MPI_Isend", 9999)]
    calls, messages = [[], []], []
    for k, (name, size) in enumerate(rows):
        at, gone = 100 * k, 5 if size == 4000 else 60
        calls[0].append((name, at, at + gone, {"comm": 0, "peer": 1, "tag": 1, "sent": size}))
        calls[1].append(("MPI_Recv", at + 50, at + 60, {"comm": 0, "peer": 0, "tag": 1, "received": size}))
        messages.append((0, 1, size, 1, at, at + 50))
    write_dim(MemoryTrace(calls, messages=messages), tmp_path / "x.dim", Team())
    text = (tmp_path / "x.dim").read_text()
    assert sends(text) == {10: 0, 4000: 0, 4001: 1, 11: 1, 9999: 2}
    assert eager_limit(text) == 4001
    write_dim(open_trace(tmp_path / "x.dim"), tmp_path / "again.dim", Team())
    again = (tmp_path / "again.dim").read_text()
    assert (sends(again), eager_limit(again)) == (sends(text), 4001), "also of what was read from a .dim"


@pytest.mark.parametrize("of", [[], ["--latency", "2us", "--bandwidth", "100MB/s"], ["--machine", "m.cfg"]])
def test_commands_agree(tmp_path, monkeypatch, capsys, of):
    """Both send 4000 bytes before they receive; all numbers and the limit are the same, and `dim` says what to type."""
    monkeypatch.chdir(tmp_path)
    steps = [(0, ("crossed", 4000, (50, 70))), (0, ("MPI_Send", 5000, (3, 30)))]
    run = written(steps, tmp_path)
    text, collectives = cfg_text(Machine(node=Node(latency_s=1e-6)), RANKS)
    for name, content in (("m.cfg", text), ("collectives.cfg", collectives)):
        Path(name).write_text(content)
    assert main(["dim", run.name]) == 0
    written_to, command, *_ = capsys.readouterr().out.splitlines()
    assert written_to == "run.dim"
    assert shlex.split(command)[:4] == ["Dimemas", "--dim", "run.dim", "MACHINE.cfg"]
    assert "up to 3.91 KiB" in command and "-S 4001" in command
    found = []
    for name in (run.name, "run.dim"):
        assert main(["replay", name, *of, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["eager"] == [{"from": "run", "waits_from_bytes": 4001}]
    differing = {key for key in found[0] if found[0][key] != found[1].get(key)}
    assert differing == {"files", "measured_s", "replayed_by"}


def test_a_limit_that_cannot_be_is_refused(tmp_path):
    for value in (0, -1, 1 << 60):
        path = tmp_path / "x.dim"
        path.write_text(f'#DIMEMAS:"x":0:1(1),0\n1:0:0:0.0\n20:0:0:49000014:{value}\n')
        with pytest.raises(analyzer.errors.TracelibError, match="line 3"):
            open_trace(path)
