"""Dimemas records of Paraver traces of a few lines: calls are rebuilt from events and messages."""

from pathlib import Path

from dim_lines import without_eager_limit

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.writers.dim import write_dim

HEAD = "#Paraver (01/01/2026 at 00:00):1000_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"


def records(folder: Path, *lines: str) -> dict[str, list[str]]:
    """The records of each task, without the first empty burst. A state says that something computes."""
    path = folder / "run.prv"
    path.write_text(
        f"{HEAD}1:1:1:1:1:0:1:1\n" + "\n".join(sorted(lines, key=lambda line: int(line.split(":")[5]))) + "\n"
    )
    trace = open_trace(path)
    write_dim(trace, folder / "run.dim", Team())
    trace.close()
    text = without_eager_limit((folder / "run.dim").read_text()).splitlines()
    return {task: [r for r in text if r[0] not in "#ds" and r.split(":")[1] == task][1:] for task in "01"}


def call(task: int, begin: int, end: int, value: int, event_type: int = 50000001, more: str = "") -> list[str]:
    return [f"2:{task}:1:{task}:1:{begin}:{event_type}:{value}{more}", f"2:{task}:1:{task}:1:{end}:{event_type}:0"]


def message(lsend: int, psend: int, lrecv: int, precv: int, size: int, tag: int) -> str:
    return f"3:1:1:1:1:{lsend}:{psend}:2:1:2:1:{lrecv}:{precv}:{size}:{tag}"


def test_send_and_posted_receive(tmp_path):
    found = records(
        tmp_path,
        *call(1, 100, 150, 1),
        *call(2, 50, 60, 4),
        *call(2, 80, 200, 5),
        message(100, 110, 50, 200, 32, 9),
    )
    assert found["0"] == ["1:0:0:0.000000100", "2:0:0:1:32:9:1:0"]
    assert found["1"] == [
        "1:1:0:0.000000050",
        "3:1:0:0:32:9:1:1",
        "1:1:0:0.000000020",
        "3:1:0:0:32:9:1:2",
    ]


def test_one_startall_starts_two_sends(tmp_path):
    found = records(
        tmp_path,
        *call(1, 100, 150, 124, 50000003),
        *call(2, 50, 180, 2),
        *call(2, 200, 260, 2),
        message(100, 110, 50, 180, 32, 9),
        message(101, 112, 200, 260, 64, 8),
    )
    assert found["0"] == ["1:0:0:0.000000100", "2:0:0:1:32:9:1:2", "2:0:0:1:64:8:1:2"]
    assert [r for r in found["1"] if r.startswith("3:")] == ["3:1:0:0:32:9:1:0", "3:1:0:0:64:8:1:0"]


def test_collectives_name_their_root(tmp_path):
    sizes = ":50100001:16:50100002:0:50100003:1:50100004:1"
    other = ":50100001:0:50100002:16:50100003:0:50100004:1"
    found = records(tmp_path, *call(1, 10, 20, 7, 50000002, sizes), *call(2, 12, 20, 7, 50000002, other))
    assert found["0"][:2] == ["1:0:0:0.000000010", "10:0:0:1:1:1:0:16:0:1"]
    assert found["1"][:2] == ["1:1:0:0.000000012", "10:1:0:1:1:0:0:0:16:1"]
