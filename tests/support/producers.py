"""Small Paraver traces in the manner of the programs that write them: header, records and peculiarities follow each
writer's source, the contents are made up. docs/paraver-producers.md has the same list in prose."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Producer:
    """One way to write a .prv. `reason`: what the refusal says; "": it is read.

    sizes: ranks of each application. computing_ns: state 1 of all threads; None: the trace has events only. arrows:
    inside a task. noted: a part of what is said of it; "": nothing is.
    """

    text: str
    sizes: tuple[int, ...] = (1,)
    threads: int = 1
    duration_ns: int = 0
    computing_ns: int | None = None
    messages: int = 0
    arrows: int = 0
    noted: str = ""
    reason: str = ""


def _events(*rows: str) -> str:
    return "".join(f"2:{row}\n" for row in rows)


_STATES = "1:{0}:0:1000:1\n1:{0}:1000:3000:{1}\n1:{0}:3000:9000:1\n"


def _extrae(version: str) -> str:
    """mpi2prv: two tasks, a message, a collective with its sizes and callers, counters, a flush in state 12."""
    hardware = ":42000050:5000:42000059:2500" if version != "2" else ""
    lines = [
        "#Paraver (09/10/2019 at 16:08):10000_ns:1(2):1:2(1:1,1:1),3",
        "c:1:1:2:1:2",
        "c:1:2:1:1",
        "c:1:3:1:2",
        "1:1:1:1:1:0:100:2",
        "2:1:1:1:1:100:40000001:1:40000018:0:40000012:1",
        "2:2:1:2:1:0:40000001:1",
        "1:1:1:1:1:100:1000:1",
        "1:2:1:2:1:0:1000:1",
        f"2:1:1:1:1:1000:50000001:1{hardware}",
        "1:1:1:1:1:1000:2000:4",
        "2:2:1:2:1:1000:50000001:2",
        "1:2:1:2:1:1000:2100:3",
        "3:1:1:1:1:1000:1100:2:1:2:1:1000:2100:800:7",
        f"2:1:1:1:1:2000:50000001:0{hardware}",
        "1:1:1:1:1:2000:4000:1",
        "2:2:1:2:1:2100:50000001:0",
        "1:2:1:2:1:2100:3000:1",
    ]
    for task in (1, 2):
        begin = 4000 if task == 1 else 3000
        place = f"{task}:1:{task}:1"
        lines += [
            f"2:{place}:{begin}:50000002:10:50100001:8:50100002:8:50100003:0:50100004:1:70000001:3:80000001:4",
            f"1:{place}:{begin}:5000:13",
            f"2:{place}:5000:50000002:0",
            f"1:{place}:5000:9000:1",
            f"2:{place}:9000:40000003:1",
            f"1:{place}:9000:9500:12",
            f"2:{place}:9500:40000003:0",
            f"1:{place}:9500:10000:1",
            f"2:{place}:10000:40000001:0",
        ]
    return "\n".join(lines) + "\n"


def _cuda_of_extrae() -> str:
    """A launch and its kernel on another thread, and an arrow between them."""
    return (
        "#Paraver (14/05/2025 at 03:14):9000_ns:1(1):1:1(2:1),1\nc:1:1:1:1\n"
        + _STATES.format("1:1:1:1", 17)
        + "1:1:1:1:2:0:1200:0\n1:1:1:1:2:1200:2500:1\n1:1:1:1:2:2500:9000:0\n"
        + _events(
            "1:1:1:1:1000:63000001:1",
            "1:1:1:1:1100:63000001:0",
            "1:1:1:2:1200:63000006:5",
            "1:1:1:2:2500:63000006:0",
            "1:1:1:1:9000:40000001:0",
        )
        + "3:1:1:1:1:1000:1100:1:1:1:2:1200:2500:0:0\n"
    )


def _nsys(tasks: int) -> str:
    """nsys2prv: a colon in front of the tasks, events only, an arrow with tag for each kernel and copy."""
    listed = ",".join("2:1" for _ in range(tasks))
    text = f"#Paraver (14/05/2025 at 03:14):9000_ns:0:1:{tasks}:({listed})\n"
    for task in range(1, tasks + 1):
        text += _events(
            f"0:1:{task}:2:1200:63000006:5:9200001:128:9200002:1",
            f"0:1:{task}:2:2500:63000006:0:9200001:0:9200002:0",
            f"0:1:{task}:1:1000:63000000:1:63000009:77",
            f"0:1:{task}:1:1100:63000000:0:63000009:0",
            f"0:1:{task}:1:4000:50000002:8:50100001:0:50100002:0",
            f"0:1:{task}:1:9000:50000002:0:50100001:0:50100002:0",
        )
        text += f"3:0:1:{task}:1:1000:1000:0:1:{task}:2:1200:1200:0:55001\n"
    return text


def _ear(unit: str, named: bool) -> str:
    """EAR: microseconds without a unit, 20 digits for the time in the header and in the states, one task a node."""
    text = f"#Paraver (01/01/1970 at 00:00):{9000:020d}{unit}:2(1,1):1:2(1:1,1:2)\n"
    for task in (1, 2) if named else (1,):
        text += f"1:{task}:1:{task}:1:0:{9000:020d}:1\n"
        text += _events(f"{task}:1:{task}:1:100:60001:17", f"{task}:1:{task}:1:9000:60013:123456789")
    return text


def _applications(separator: str) -> str:
    """COMPSs: one application for each worker, in a list that `separator` joins, messages of MPI in none of them."""
    text = f"#Paraver (10/03/2025 at 11:00):9000_ns:2(2,1):2:1(2:1){separator}1(1:2)\n"
    for place in ("1:1:1:1", "2:1:1:2", "3:2:1:1"):
        text += _STATES.format(place, 7)
        text += _events(f"{place}:0:8000010:3", f"{place}:9000:8000010:0")
    return text + "3:1:1:1:1:1000:1000:3:2:1:1:2000:2000:64:9\n"


def _migrations() -> str:
    """A profiler of tasks (Nanos++, Mercurium): an arrow where a thread goes to another CPU, events of 16 bits."""
    text = "#Paraver (10/03/2024 at 11:00):8000_ns:1(2):1:1(2:1)\n"
    text += _events("1:1:1:1:0:9:1", "1:1:1:2:10:9:1", "2:1:1:1:5000:9:0", "1:1:1:2:8000:9:0")
    return text + "3:1:1:1:1:100:100:2:1:1:1:5000:5000:1:1\n"


def _ctf(separator: str) -> str:
    """A kernel's trace of LTTng: an application for each process, states that the .pcf names (1: system call)."""
    tasks = separator.join("1(1:1)" for _ in range(3))
    text = f"#Paraver (28/05/2015 at 14:03):9000_ns:1(4):3:{tasks}\n"
    for process in (1, 2, 3):
        text += _STATES.format(f"{process}:{process}:1:1", 2) + _events(f"{process}:{process}:1:1:1000:10000000:4")
    return text


_OVNI = "".join(
    f"2:0:1:1:{row}:{time}:{6 + row}:{value}\n"
    for row in (1, 2)
    for time, value in ((0, 1), (400 * row, 17), (9000, 0))
)
_WORKERS = "".join(
    f"1:{n}:1:1:{n}:{a}:{b}:{state}\n"
    for n in (1, 2)
    for (a, b), state in zip(pairwise((0, 1000, 4000, 9000)), (1, 0, 1), strict=True)
)

PRODUCERS: dict[str, Producer] = {
    "extrae-2": Producer(_extrae("2"), (2,), 2, 10_000, 900 + 2000 + 1000 + 900 + 9000, messages=1),
    "extrae-5": Producer(_extrae("5"), (2,), 2, 10_000, 900 + 2000 + 1000 + 900 + 9000, messages=1),
    "extrae-cuda": Producer(_cuda_of_extrae(), (1,), 2, 9000, 8300, arrows=1),
    "cutter": Producer(
        "#Paraver (01/02/2020 at 10:00):9000_ns:1(1):1:1(1:1),1\nc:1:1:1:1\n2:1:1:1:1:0:50000003:31\n"
        "1:1:1:1:1:0:1000:15\n2:1:1:1:1:1000:50000003:0\n1:1:1:1:1:1000:9000:1\n",
        duration_ns=9000,
        computing_ns=8000,
    ),
    "filter-events-only": Producer(
        "#Paraver (01/02/2020 at 10:00):9000_ns:1(1):1:1(1:1),1\nc:1:1:1:1\n2:1:1:1:1:0:50000003:31\n"
        "2:1:1:1:1:1000:50000003:0\n2:1:1:1:1:9000:40000001:0\n",
        duration_ns=9000,
        noted="it is not known what is computing",
    ),
    "dimemas-pa": Producer(
        "#Paraver (20/11/2026 at 15:00):9000_ns:2(1,1):1:2(1:1,1:2),1\nc:1:1:2:1:2\n"
        + _STATES.format("1:1:1:1", 4)
        + _STATES.format("2:1:2:1", 3)
        + "1:1:1:1:1:9000:9000:0\n"
        + _events(
            "1:1:1:1:1000:50000001:1", "1:1:1:1:3000:50000001:0", "2:1:2:1:1000:50000001:2", "2:1:2:1:3000:50000001:0"
        )
        + "3:1:1:1:1:1000:1500:2:1:2:1:1000:3000:512:3\n",
        (2,),
        2,
        9000,
        14_000,
        messages=1,
    ),
    "ovni": Producer(
        f"#Paraver (19/01/38 at 03:14):{9000:020d}_ns:0:1:1(2:1)\n{_OVNI}",
        (1,),
        2,
        9000,
        noted="it is not known what is computing",
    ),
    "ovni-while-written": Producer(
        f"#Paraver (19/01/38 at 03:14):{0:020d}_ns:0:1:1(2:1)\n{_OVNI}",
        (1,),
        2,
        9000,
        noted="its last record is at",
    ),
    "nanos6-ctf": Producer(
        f"#Paraver (09/09/41 at 03:14):{9000:020d}_ns:0:1:1({2:020d}:1)\n{_OVNI}",
        (1,),
        2,
        9000,
        noted="it is not known what is computing",
    ),
    "nanos6-python": Producer(
        f"#Paraver (10/03/24 at 11:00):{9000:019d}_ns:1(2):1:1(2:1)\n"
        + _OVNI.replace("2:0:1:1:1", "2:1:1:1:1").replace("2:0:1:1:2", "2:2:1:1:2"),
        (1,),
        2,
        9000,
        noted="it is not known what is computing",
    ),
    "tracr": Producer(
        f"#Paraver (03/12/25 at 09:05):{0:020d}_ns:0:1:1(2:1)\n{_OVNI.replace(':7:', ':90:').replace(':8:', ':90:')}",
        (1,),
        2,
        9000,
        noted="its last record is at",
    ),
    "nsys2prv": Producer(_nsys(1), (1,), 2, 9000, arrows=1, noted="it is not known what is computing"),
    "nsys2prv-two-tasks": Producer(_nsys(2), (2,), 4, 9000, arrows=2, noted="it is not known what is computing"),
    "ear-merged": Producer(_ear("", named=True), (2,), 2, 9_000_000, 18_000_000),
    "ear-one-rank": Producer(_ear("", named=False), (2,), 2, 9_000_000, 9_000_000),
    "ear-jobs": Producer(
        "#Paraver (10/03/24 at 11:00):9000:0:2:2(1:1,1:2):1(1:1)\n"
        + _events("0:1:1:1:0:60001:5", "0:1:2:1:9000:60001:0", "0:2:1:1:10:60001:7"),
        (2, 1),
        3,
        9_000_000,
        noted="it is not known what is computing",
    ),
    "compss": Producer(_applications(":"), (1, 1), 3, 9000, 21_000, messages=1),
    "compss-commas": Producer(_applications(","), (1, 1), 3, 9000, 21_000, messages=1),
    "task-profiler": Producer(_migrations(), (1,), 2, 8000, arrows=1, noted="it is not known what is computing"),
    "lttng-ctf": Producer(_ctf(","), (1, 1, 1), 3, 9000, 21_000),
    "lttng-first-lines": Producer(
        "#Paraver (28/05/2015 at 14:03):9000_ns\n2:1:1:1:1:0:1:1\n",
        reason="does not list nodes, applications and their tasks",
    ),
    "power-merged": Producer(
        "#Paraver (28/05/2015 at 14:03):9000_ns:1(1):2:1(1:1),1(1:1)\n"
        + _STATES.format("1:1:1:1", 12)
        + _events("1:2:1:1:100:90000000:4711", "1:2:1:1:8000:90000000:4720"),
        (1, 1),
        2,
        9000,
        7000,
    ),
    "pmlib": Producer(
        "#Paraver (28/05/2015 at 14:03):9000.250000_ns:1(1):1:1:(1:1)\n2:0:1:1:1:0.000000:500000009:35.20\n",
        reason="not a whole number where one is expected",
    ),
    "arm-instructions": Producer(
        "#Paraver (30/03/2020 at 09:50):9000_ns:1(1):1:1:(1:1)\n" + _events("0:1:1:1:0:1:17", "0:1:1:1:9000:1:0"),
        duration_ns=9000,
        noted="it is not known what is computing",
    ),
    "openstream": Producer(
        f"#Paraver (3/7/2013 at 9:5):9000:1(2):1:1(2:1)\n{_WORKERS}", (1,), 2, 9_000_000, 12_000_000
    ),
    "mir": Producer(f"#Paraver (03/07/2013 at 09:05):9000:1(2):1:1(2:1)\n{_WORKERS}", (1,), 2, 9_000_000, 12_000_000),
    "gmac": Producer(
        "#Paraver(03/06/10 at 09:05):9000:0:1:1(2:1)\n" + _WORKERS.replace("1:2:1:1:2", "1:0:1:1:2"),
        (1,),
        2,
        9_000_000,
        12_000_000,
    ),
    "ptt": Producer(
        "#Paraver (03/07/13 at 09:05):9000_ns:0:1:1(2:0)\n" + _events("0:1:1:1:0:7:1", "0:1:1:2:9000:7:0"),
        (1,),
        2,
        9000,
        noted="it is not known what is computing",
    ),
    "tau": Producer(
        "#Paraver (03/07/04 at 09:05):9000:2:1:2(1:1,1:2)\n1:1:1:1:1:0:9000:1\n1:2:1:2:1:0:9000:1\n"
        + _events("1:1:1:1:100:5:3", "2:1:2:1:9000:5:0"),
        (2,),
        2,
        9_000_000,
        18_000_000,
    ),
    "otf2prv": Producer(
        "#Paraver ():9000_us:1(2):1:2(1:1,1:1),0\n"
        + _events(
            "1:1:1:1:0:50000003:31", "1:1:1:1:9000:50000003:0", "2:1:2:1:10:50000003:31", "2:1:2:1:9000:50000003:0"
        ),
        (2,),
        2,
        9_000_000,
        noted="it is not known what is computing",
    ),
    "otf2prv-seconds": Producer(
        "#Paraver ():9_s:1(1):1:1(1:1),0\n1:1:1:1:1:0:9:1\n", duration_ns=9 * 10**9, computing_ns=9 * 10**9
    ),
    "caveat": Producer(
        "#Paraver (03/07/120 at 09:05):9000:1(1):1:1(1:1)\nParaver trace [10000, 20000]\n"
        + _events("0:1:1:1:10:0:65536", "0:1:1:1:9000:10:65536"),
        duration_ns=9_000_000,
        noted="line 2: not a record",
    ),
    "hadoop": Producer(
        "#Paraver (03/07/13 at 09:05):9000:4(1,1,1,1):1:4(1:1,1:2,1:3,1:4),0\n"
        + "".join(f"1:{n}:1:{n}:1:0:9000:1\n" for n in range(1, 5)),
        (4,),
        4,
        9_000_000,
        36_000_000,
    ),
    "scheduler": Producer(
        "#Paraver(03/07/13 at 09:05):9.000000:1(2):2:1(1:1):1(1:1)\n1:1:1:1:1:0:5:1\n1:2:2:1:1:2:9:1\n",
        (1, 1),
        2,
        9000,
        12_000,
    ),
    "components": Producer(
        "#Paraver(01/01/2016 at 00:00):1:1(2):1(2:1)\n2:0:1:1:1:0:5:1\n",
        reason="does not list nodes, applications and their tasks",
    ),
    "large-type": Producer(
        "#Paraver (01/02/2020 at 10:00):9000_ns:0:1:1(1:1)\n1:0:1:1:1:0:9000:1\n2:0:1:1:1:0:5000000010:1\n",
        duration_ns=9000,
        computing_ns=9000,
        noted="an event type that is negative or needs more than 32 bits",
    ),
    "two-events-in-a-line": Producer(
        "#Paraver (10/03/2024 at 11:00):8000_ns:1(2):1:1(1:1)\n1:1:1:1:1:0:8000:1\n"
        "3:1:1:1:1:100:100:2:1:1:1:5000:5000:1:12:1:1:1:1:5000:9:1\n",
        duration_ns=8000,
        computing_ns=8000,
        noted="line 3",
    ),
}
"""By the name of the writer."""
