"""Dimemas traces read: their operations, what is wrong with them and where, and the run that a replay makes of them."""

import gzip
import json
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from dim_programs import programs, trace_of
from dim_text import random_program
from grammar import check_dim
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import EPOCH

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.machine.description import DIALECTS, TABLE_9, Network, Node
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.program.operation import OperationFlag, OperationKind
from analyzer.replay import Machine, program_of, simulate
from analyzer.replay.recorded import in_order
from analyzer.sources.dimemas.reader import read_dim
from analyzer.trace import Leftovers, Regions
from analyzer.writers.dim import write_dim

HEAD = '#DIMEMAS:"two":0:2(1,1),1\nd:1:1:2:0:1\n'
MACHINES = (
    Machine.ideal(eager_limit=32768),
    Machine(node=Node(latency_s=5e-6, speed=3, links_in=1, links_out=1), networks=(Network(100, 2),)),
    Machine(node=Node(latency_s=5e-6), networks=(Network(100, 1),), dialect="thesis", collectives=TABLE_9),
)


def read_text(text: str | bytes, name: str = "x.dim", block: int = 1 << 22):
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_dim(path, block)


def streams(found) -> list[np.ndarray]:
    """Operations of each thread, communicators by their id."""
    ids = np.array([0, *(c.id for c in found.communicators)])
    ops = found.program.ops.copy()
    ops["comm"] = np.where(ops["comm"] < 0, ~ops["comm"], ids[ops["comm"].clip(0)])
    ops["flags"] &= ~np.uint16(OperationFlag.FIRST)
    return [ops[a:b] for a, b in zip(found.program.offsets[:-1], found.program.offsets[1:], strict=True)]


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(0, 30), st.sampled_from(["\n", "\r\n", " \n\n"]))
def test_what_a_program_says_is_read(seed, steps, end):
    """Random programs, written by another than our writer; lines may end as they like, offsets be missing or wrong."""
    program = random_program(Random(seed), steps)
    found = read_text(program.text(end=end, offsets=("0", "1,5")[seed % 2]))
    who = [(int(r), int(t)) for r, t in zip(found.program.rank, found.program.thread, strict=True)]
    assert who == [*program.rows]
    for (task, thread), ops in zip(who, streams(found), strict=True):
        wanted = program.operations(task, thread)
        assert [*map(tuple, ops)] == [*map(tuple, wanted)]
    defined = {c.id: c.members for c in found.communicators}
    assert all(defined[id_] == members for id_, members in program.communicators.items())


def without_empty_calls(ops: np.ndarray) -> np.ndarray:
    """A call that does nothing is not in a .dim; its burst is, and joins what follows without a burst of its own."""
    kept: list[np.void] = []
    for op in ops.copy():
        if kept and kept[-1]["kind"] == OperationKind.NONE and op["burst"] == 0:
            op["burst"] = kept.pop()["burst"]
        if op["kind"] != OperationKind.NONE or op["burst"]:
            kept.append(op)
    return np.array(kept, ops.dtype)


@settings(max_examples=40)
@given(programs)
def test_the_operations_of_a_trace_come_back(programs):
    """Trace -> .dim -> operations is trace -> operations, but for calls that take no time and names of requests."""
    trace = trace_of(programs)
    with TemporaryDirectory() as folder:
        write_dim(trace, Path(folder) / "x.dim", Team())
        found = read_dim(Path(folder) / "x.dim")
    program = program_of(trace)
    for rank, ops in enumerate(streams(found)):
        wanted = without_empty_calls(program.ops[program.offsets[rank] : program.offsets[rank + 1]])
        columns = ["burst", "bytes", "other", "peer", "tag", "kind"]
        assert ops[columns].tolist() == wanted[columns].tolist()


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not here")
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_replays_of_the_trace_and_of_its_dim_agree(ranks, tmp_path):
    """To the ns, for each rank and on every machine; on the ideal one that is Dimemas' own figure."""
    trace = open_trace(EPOCH / f"epoch_{ranks}proc.prv.gz")
    write_dim(trace, tmp_path / "x.dim", Team())
    direct, read = program_of(trace, buffered=True), program_of(open_trace(tmp_path / "x.dim"))
    for machine in MACHINES:
        ends = [simulate(program, machine).usage["end"].tolist() for program in (direct, read)]
        assert ends[0] == ends[1]
    assert main(["check", str(tmp_path / "x.dim")]) == 0, (
        "its ideal replay is whole, and nothing comes before its cause"
    )
    ideal = simulate(read, MACHINES[0]).end_ns
    assert ideal == {1: 21884758971, 2: 11504370091, 4: 6051059081}[ranks]


def test_a_trace_written_again_is_the_same(tmp_path):
    """Threads, communicators that are not defined, and priorities included."""
    text = (
        '#DIMEMAS:"two":0:2(2,1),1\nd:1:7:2:0:1\n'
        "1:0:0:0.000000000\n1:0:0:0.000000005\n2:0:0:1:0:8:1:7:0\n"
        "1:0:1:0.000000000\n2:0:1:1:8:1:9:3\n20:0:1:49000010:5\n"
        "1:1:0:0.000000000\n3:1:0:0:0:8:1:7:0\n3:1:0:0:8:1:9:1\n3:1:0:0:8:1:9:2\n"
    )
    (tmp_path / "x.dim").write_text(text)
    trace = open_trace(tmp_path / "x.dim")
    priority = trace.program.ops[trace.program.ops["kind"] == OperationKind.PRIORITY]
    assert priority["other"].tolist() == [5]
    write_dim(trace, tmp_path / "again.dim", Team())
    again = (tmp_path / "again.dim").read_text().splitlines()
    assert again[1 : -len(trace.threads)] == text.splitlines()[1:]
    assert check_dim(tmp_path / "again.dim") == [f"line {n}: communicator 9 is not defined" for n in (7, 11, 12)]


OURS = """#DIMEMAS:"ours":0:1(2),0
1:0:0:0.000000000
20:0:0:49000011:7
1:0:0:0.000000100
30:0:0:1:0:1048576:9:2
1:0:1:0.000000000
1:0:1:0.000000900
20:0:1:49000013:3
20:0:1:49000012:7
"""
"""Thread 0 waits for a semaphore that thread 1 signals after a burst for three threads, then sends through a port."""
SERVER = """#DIMEMAS:"server":0:1(1),0
1:0:0:0.000000000
31:0:0:0:0:1048576:9
1:0:0:0.000000005
"""


def test_what_dimemas_has_no_record_for(tmp_path, capsys):
    """Rows 4, 5 and 13, in both dialects: semaphores, blocks for several threads and ports are read, written again as
    they were, and simulated; 900 ns for three threads are 300, then 100, then 10 ms for the message."""
    for name, text in (("ours", OURS), ("server", SERVER)):
        (tmp_path / f"{name}.dim").write_text(text)
        trace = open_trace(tmp_path / f"{name}.dim")
        write_dim(trace, tmp_path / "again.dim", Team())
        assert (tmp_path / "again.dim").read_text().splitlines()[1:-1] == [
            "d:1:1:1:0", *(line for line in text.splitlines()[1:])
        ]  # fmt: skip
    places = "".join(f"[[application]]\nmapping = [{node}]\n" for node in (0, 1))
    runs = [str(tmp_path / "ours.dim"), "--app", str(tmp_path / "server.dim")]
    for dialect in DIALECTS:
        network = "[network]\nbandwidth_mb = 100\n[[node]]\ncount = 2\ncpus = 4\n"
        (tmp_path / "m.toml").write_text(f'dialect = "{dialect}"\n{network}{places}')
        assert main(["replay", *runs, "--machine", str(tmp_path / "m.toml"), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [row["end_s"] for row in found["ranks"]] == [400e-9, 300e-9, 400e-9 + 0.01 + 5e-9]
        assert found["ranks"][0]["wait_semaphore"] == 300e-9
    assert main(["replay", str(tmp_path / "ours.dim")]) == 1
    assert "rank 0 communicates with rank 0 of application 1, which is not there" in capsys.readouterr().err


def test_those_that_speak_to_each_other_begin_again(tmp_path, capsys):
    """Each run communicates with the other's: 400 ns of one, and the other 5 ns after its message; none is alone."""
    for name, text in (("ours", OURS), ("server", SERVER)):
        (tmp_path / f"{name}.dim").write_text(text)
    runs = ["replay", str(tmp_path / "ours.dim"), "--app", str(tmp_path / "server.dim"), "--repeat", "2", "--cpus", "4"]
    assert main([*runs, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    ends = [[round(run["end_s"] * 1e9) for run in found["runs"] if run["application"] == k] for k in (0, 1)]
    assert ends == [[400, 800], [405, 805]]
    assert "closed" not in found
    assert main(runs) == 0
    text = capsys.readouterr().out
    assert "ours.dim: 2 runs, on average 400 ns\nserver.dim: 2 runs, on average 402 ns" in text
    assert "none can be replayed alone" in text


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_do_not_show(block):
    text = random_program(Random(3), 40).text()
    whole = read_text(text).program
    assert read_text(text, block=block).program.ops.tolist() == whole.ops.tolist()
    assert read_text(text.rstrip("\n"), block=block).program.ops.tolist() == whole.ops.tolist()
    assert read_text(gzip.compress(text.encode()), "x.dim.gz", block).program.ops.tolist() == whole.ops.tolist()


@pytest.mark.parametrize(
    "written, ns",
    [
        ("0.000000001", 1), ("0.0000000015", 2), ("0.00000000149999", 1), ("1", 10**9), ("1.5", 1500000000),
        ("1.", 10**9), ("0", 0), ("1e-3", 10**6), (".25", 250000000),
        ("123456.000000001", 123456000000001), ("2.5E2", 250 * 10**9),
    ],
)  # fmt: skip
def test_durations(written, ns):
    found = read_text(f"{HEAD}1:0:0:{written}\n2:0:0:1:8:0:1:0\n")
    assert found.program.ops["burst"][0] == ns


WRONG = {
    "9:0:0:1": "unknown kind",
    "hello": "not a record",
    "# a comment": "not a record",
    "1:0:0:-1.0": "duration",
    "1:0:0:nan": "duration",
    "1:0:0:1.0x": "duration",
    "1:0:0:": "fields",
    "1:0:0": "fields",
    "1:2:0:1.0": "task or thread",
    "1:0:1:1.0": "task or thread",
    "1:-1:0:1.0": "task or thread",
    "2:0:0:1:8:1:1": "fields",
    "2:0:0:1:8:1:1:4": "fields",
    "2:0:0:1:-8:1:1:0": "fields",
    "2:0:0:1:8:1:1:0:0:0": "fields",
    "2:0:0:2:8:1:1:0": "partner",
    "2:0:0:1:3:8:1:1:0": "partner",
    "3:0:0:1:8:1:1:3": "fields",
    "3:0:0:1:8:1:1:2": "did not begin",
    "10:0:0:11:1:0:0:8:8:2": "did not begin",
    "10:0:0:11:2:0:0:8:8:1": "not defined",
    "10:0:0:27:1:0:0:8:8": "global operation",
    "10:0:0:11:1:2:0:8:8": "fields",
    "11:0:0:0.5": "accelerator",
    "20:0:0:1": "fields",
    "20:0:0:-1:1": "fields",
    "20:0:0:49000011:-1": "fields",
    "20:0:0:49000013:0": "fields",
    "30:0:0:1:0:8:9": "fields",
    "30:0:0:1:0:8:9:4": "fields",
    "31:0:0:1:0:8:9:0": "fields",
    "31:0:0:-1:0:8:9": "fields",
    "d:1:2:1:0": "definition among",
    "1:0:0:99999999999999999999": "duration",
    "2:0:0:1:99999999999999999999:1:1:0": "fields",
    "2:0:0:1:9000000000000000000:1:1:0": "no memory",
    "3:0:0:1:1125899906842625:1:1:0": "no memory",
    "10:0:0:11:1:0:0:1125899906842625:8": "no memory",
    "10:0:0:11:1:0:0:8:1125899906842625": "no memory",
    "30:0:0:1:0:1125899906842625:9:0": "no memory",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_named(line):
    """With its number and what it says, whatever stands around it."""
    with pytest.raises(TracelibError, match=r"line 5") as error:
        read_text(f"{HEAD}1:0:0:0.0\n\n{line}\n1:1:0:0.5\n")
    assert line in str(error.value) and WRONG[line] in str(error.value)


@pytest.mark.parametrize(
    "text, line, says",
    [
        ("#DIMEMAS:two:0:2(1,1),1\n", 1, "header"),
        ('#DIMEMAS:"two":0:2(1,1)\n', 1, "header"),
        ('#DIMEMAS:"two":0:3(1,1),0\n', 1, "3 tasks"),
        ('#DIMEMAS:"two":0:2(1,0),0\n', 1, "without threads"),
        (HEAD + "d:1:2:2:0\n", 3, "announces 2"),
        (HEAD + "d:1:2:2:0:5\n", 3, "does not have"),
        (HEAD + "d:1:2:2:0:0\n", 3, "twice"),
        (HEAD + "d:1:1:1:0\n", 3, "again"),
        (HEAD + "d:9:1:1:0\n", 3, "definition"),
        (HEAD + "1:1:0:1.0\n1:0:0:1.0\n", 4, "later task"),
        (HEAD + "1:0:0:1.0\ns:0:20\n1:1:0:1.0\n", 5, "offsets"),
        (HEAD.replace("2:0:1", "1:0") + "10:1:0:0:1:0:0:0:0:1\n", 3, "not in the communicator"),
    ],
)
def test_a_wrong_file_is_named(text, line, says):
    with pytest.raises(TracelibError, match=f"line {line}:") as error:
        read_text(text)
    assert says in str(error.value)


def test_what_dimemas_accepts_is_accepted():
    """More fields in the header, files and windows, a thread that does nothing, numbers above 2^31, no offsets."""
    found = read_text(
        '#DIMEMAS:"x":1,7:3(1,1,2),1,0,1(2)\nd:2:1:whatever\nd:3:1\nd:1:4:1:0\n'
        "0:0:0\n2:0:0:1:5000000000:4294967295:1:2\n1:2:1:0.5\ns:0:1\ns:1:1\ns:2:1:1\n"
    )
    assert [len(ops) for ops in streams(found)] == [1, 0, 0, 1]
    assert found.program.ops["bytes"][0] == 5 * 10**9 and found.program.ops["tag"][0] == -1


def test_waits_are_of_the_receive_with_their_size():
    """Two receives are equal but for their size; among quite equal ones the first is meant."""
    found = read_text(
        HEAD + "3:0:0:1:8:1:1:1\n3:0:0:1:16:1:1:1\n3:0:0:1:16:1:1:1\n"
        "3:0:0:1:16:1:1:2\n3:0:0:1:99:1:1:2\n3:0:0:1:16:1:1:2\n"
    )
    assert found.program.ops["request"].tolist() == [0, 1, 2, 1, 0, 2] and found.program.slots.tolist() == [3, 0]


def test_messages_between_threads_find_theirs():
    """Two threads receive from one with the same tag: who is named gets it, whoever comes first."""
    lines = (
        "1:0:0:0.000000100\n2:0:0:1:1:8:1:1:2\n1:0:0:0.000000100\n2:0:0:1:0:8:1:1:2\n"
        "3:1:0:0:0:8:1:1:0\n1:1:1:0.000000050\n3:1:1:0:0:8:1:1:0\n"
    )
    found = read_text('#DIMEMAS:"x":0:2(1,2),1\nd:1:1:2:0:1\n' + lines)
    assert simulate(found.program, Machine.ideal()).usage["end"].tolist() == [200, 200, 100]


RUN = (
    '#DIMEMAS:"app":0:2(1,1),1\nd:1:1:2:0:1\n'
    "1:0:0:0.000001000\n20:0:0:60000019:3\n2:0:0:1:100:5:1:2\n1:0:0:0.000000500\n20:0:0:60000019:0\n20:0:0:777:8\n"
    "10:0:0:11:1:0:0:8:8:0\n1:0:0:0.000000100\n10:0:0:11:1:0:0:8:8:2\n10:0:0:1:1:1:0:64:0:1\n"
    "1:1:0:0.000000200\n3:1:0:0:100:5:1:1\n10:1:0:11:1:0:0:8:8:0\n3:1:0:0:100:5:1:2\n10:1:0:11:1:0:0:8:8:2\n"
    "10:1:0:1:1:0:0:0:64:1\n"
)


def test_the_predicted_run_has_calls_messages_and_regions(tmp_path, capsys):
    """Latency 1 us, 1 MB/s: the message of 100 bytes leaves at 2000 ns and is under way for 95367 ns; rank 1
    has posted its receive at 196 ns, waits for it, then both end the collective that has begun."""
    (tmp_path / "x.dim").write_text(RUN)
    arguments = ["replay", str(tmp_path / "x.dim"), "--latency", "1us", "--bandwidth", "1MB/s", "--json"]
    assert main([*arguments, "-o", str(tmp_path / "p.h5")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["measured_s"] == [None]
    run = open_trace(tmp_path / "p.h5")
    names = [[run.procedures[c["call"]] for block in run.calls(r) for c in block] for r in (0, 1)]
    assert names[0] == ["MPI_Isend", "MPI_Iallreduce", "MPI_Wait", "MPI_Bcast"]
    assert names[1] == ["MPI_Irecv", "MPI_Iallreduce", "MPI_Wait", "MPI_Wait", "MPI_Bcast"]
    (message,) = run.messages()
    assert (message["source"], message["destination"], message["size"], message["tag"]) == (0, 1, 100, 5)
    assert (message["logical_send"], message["logical_receive"]) == (1000, 196)
    assert message["physical_receive"] == 2000 + 95367
    assert run.extra(Regions).names == ("region 3",)
    assert [int(m["time"]) for m in run.extra(Regions).marks(0)] == [1000, 2500]
    assert Counter(run.extra(Regions).events(0)["type"].tolist()) == {60000019: 2, 777: 1, 40000001: 1}
    assert not run.extra(Leftovers).unmatched() and not run.problems
    assert run.duration_ns == pytest.approx(told["predicted_s"] * 1e9, abs=2)
    assert main(["check", str(tmp_path / "p.h5")]) == 0


def test_commands_take_a_dimemas_trace(tmp_path, capsys):
    """Its times come from an ideal replay, and the output says so; nothing is written by default."""
    (tmp_path / "x.dim").write_text(RUN)
    for command in (["efficiency"], ["info"], [], ["replay", "--app", str(tmp_path / "x.dim")]):
        assert main([*command[:1], str(tmp_path / "x.dim"), *command[1:]]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "holds no times" not in out and "has no times" in out
    assert [p.name for p in tmp_path.iterdir()] == ["x.dim"]
    assert main(["prv", str(tmp_path / "x.dim")]) == 0 and (tmp_path / "x.prv").exists()
    assert main(["dim", str(tmp_path / "x.dim")]) == 1, "it would write over what it reads"


def test_calls_that_take_no_time_move_before_what_waits():
    """Irecv, send and wait at 100: the first two last a ns each before it, and the wait ends no earlier; after a wait
    that ends at 200 a send at 200 can only be later."""
    enter, leave = in_order(
        np.array([100, 100, 100, 200, 201]), np.array([100, 100, 200, 200, 230]), np.array([1, 1, 0, 1, 0], bool)
    )
    assert enter.tolist() == [96, 98, 100, 201, 203] and leave.tolist() == [97, 99, 200, 202, 230]


def test_a_deadlock_ends_with_an_error(tmp_path, capsys):
    (tmp_path / "x.dim").write_text(HEAD + "1:0:0:0.1\n3:0:0:1:8:1:1:0\n1:1:0:0.2\n")
    assert main(["replay", str(tmp_path / "x.dim")]) == 1
    assert "rank 0 in a receive from rank 1, tag 1" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(4))
def test_a_cut_file_is_called_so(seed):
    """At any byte ahead of the offsets that the header announces; what begins a line there may be wrong as well."""
    program = random_program(Random(seed), 3)
    text = program.text(offsets=f"1,{len(program.text(offsets='1,000000')):06}")
    assert len(read_text(text + "s:0:0\n").program.ops) == sum(map(len, program.rows.values()))
    ends = {at + 1 for at, character in enumerate(text) if character == "\n"}
    records = 1 + len(program.communicators)
    for at in range(text.index("\n") + 1, len(text) + 1):
        says = "is cut" if at in ends and text.count("\n", 0, at) >= records else "is cut|line"
        with pytest.raises(TracelibError, match=says):
            read_text(text[:at])
    with pytest.raises(TracelibError, match="is cut"):
        read_text(gzip.compress(text.encode()), "x.dim.gz")
