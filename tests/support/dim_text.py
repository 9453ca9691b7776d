"""Random programs, and their .dim as the grammar has it: written without the writer's help."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np

from analyzer.program.operation import OperationFlag, OperationKind, operations


@dataclass
class DimProgram:
    """Threads of tasks with what they do: rows of OP as dicts, and the same as lines."""

    threads: list[int]
    communicators: dict[int, tuple[int, ...]]
    rows: dict[tuple[int, int], list[dict]] = field(default_factory=dict)
    lines: dict[tuple[int, int], list[str]] = field(default_factory=dict)

    def text(self, *, end: str = "\n", offsets: str = "0") -> str:
        """The file, its lines ended by `end`."""
        head = f'#DIMEMAS:"a program":{offsets}:{len(self.threads)}({",".join(map(str, self.threads))}),'
        lines = [f"{head}{len(self.communicators)}"]
        lines += [f"d:1:{i}:{len(m)}:{':'.join(map(str, m))}" for i, m in self.communicators.items()]
        return end.join([*lines, *(line for of_one in self.lines.values() for line in of_one), ""])

    def operations(self, task: int, thread: int) -> np.ndarray:
        """OP of a thread; `comm` is the id of the communicator."""
        return operations(*self.rows[task, thread])


def random_program(random: Random, steps: int) -> DimProgram:
    """Anything that the format can say, whether it could run or not."""
    threads = [random.choice((1, 1, 2)) for _ in range(random.randint(1, 4))]
    communicators = {}
    for _ in range(random.randint(0, 3)):
        members = random.sample(range(len(threads)), random.randint(1, len(threads)))
        communicators[random.randrange(1000)] = tuple(members)
    program = DimProgram(threads, communicators)
    for task, n in enumerate(threads):
        for thread in range(n):
            _Thread(random, program, task, thread).write(steps)
    return program


class _Thread:
    """Operations of one thread, in order."""

    def __init__(self, random: Random, program: DimProgram, task: int, thread: int) -> None:
        self.random, self.program = random, program
        self.task, self.who = task, f"{task}:{thread}"
        self.rows, self.lines = [], []
        program.rows[task, thread], program.lines[task, thread] = self.rows, self.lines
        self.open: dict[tuple, list[int]] = {}
        self.free: list[int] = []
        self.slots = 0
        self.burst = 0

    def write(self, steps: int) -> None:
        kinds = (self.compute, self.send, self.receive, self.collective, self.event)
        for _ in range(steps):
            self.random.choices(kinds, (4, 3, 5, 3, 1))[0]()
        self.flush()

    def flush(self) -> None:
        if self.burst:
            self.put("", kind=OperationKind.NONE)

    def put(self, line: str, **row) -> None:
        self.rows.append({"burst": self.burst, **row})
        self.burst = 0
        if line:
            self.lines.append(line)

    def compute(self) -> None:
        ns = self.random.choice((0, 1, 7, 1_500_000_000, self.random.randrange(10**12)))
        if ns:
            self.flush()
            self.burst = ns
        self.lines.append(f"1:{self.who}:{ns // 10**9}.{ns % 10**9:09d}")

    def message(self) -> tuple[dict, str, str]:
        """Columns, and what a record says before and after the size."""
        r = self.random
        id_ = r.choice([*self.program.communicators, 5000, 2**31 - 1])
        columns = {"peer": r.randrange(len(self.program.threads)), "bytes": r.choice((0, 8, 2**40)), "comm": id_}
        columns["tag"] = r.choice((0, 1, -1, 2**31 - 1))
        peer = r.choice((f"{columns['peer']}", f"{columns['peer']}:-1"))
        return columns, f"{self.who}:{peer}:{columns['bytes']}", f"{columns['tag']}:{id_}"

    def send(self) -> None:
        columns, first, last = self.message()
        sync = self.random.randrange(4)
        flags = (OperationFlag.RENDEZVOUS if sync & 1 else 0) | (OperationFlag.IMMEDIATE if sync & 2 else 0)
        self.put(f"2:{first}:{last}:{sync}", kind=OperationKind.SEND, flags=flags, **columns)

    def receive(self) -> None:
        columns, first, last = self.message()
        key = ("receive", columns["peer"], columns["tag"], columns["comm"], columns["bytes"])
        how = self.random.randrange(2 + bool(self.open.get(key)))
        kind = (OperationKind.RECV, OperationKind.IRECV, OperationKind.WAIT)[how]
        self.put(f"3:{first}:{last}:{how}", kind=kind, request=self.request(kind, key), **columns)

    def collective(self) -> None:
        r = self.random
        mine = [id_ for id_, members in self.program.communicators.items() if self.task in members]
        if not mine:
            return
        id_, operation, root = r.choice(mine), r.randrange(16), r.random() < 0.3
        sent, received = r.choice((0, 4, 2**33)), r.choice((0, 12))
        key = ("collective", operation, id_, sent)
        how = r.choice((0, 1, 2) if self.open.get(key) else (0, 1))
        kind = (OperationKind.COLLECTIVE_START, OperationKind.COLLECTIVE, OperationKind.WAIT)[how]
        type_ = "" if how == 1 and r.random() < 0.5 else f":{how}"
        self.put(
            f"10:{self.who}:{operation}:{id_}:{int(root)}:0:{sent}:{received}{type_}",
            kind=kind, flags=OperationFlag.OF_COLLECTIVE if how == 2 else 0,
            request=self.request(kind, key), tag=operation,
            comm=id_, peer=self.task if root else -1, bytes=sent, other=received,
        )  # fmt: skip

    def request(self, kind: OperationKind, key: tuple) -> int:
        """The slot that is opened or closed: what could be waited for by the same line completes in order."""
        if kind in (OperationKind.IRECV, OperationKind.COLLECTIVE_START):
            slot = self.free.pop() if self.free else self.slots
            self.slots = max(self.slots, slot + 1)
            self.open.setdefault(key, []).append(slot)
            return slot
        if kind != OperationKind.WAIT:
            return -1
        self.free.append(self.open[key].pop(0))
        return self.free[-1]

    def event(self) -> None:
        type_, value = self.random.choice((0, 40000003, 2**32 - 1)), self.random.choice((0, -1, 2**62))
        tag = type_ - 2**32 if type_ >= 2**31 else type_
        self.put(f"20:{self.who}:{type_}:{value}", kind=OperationKind.EVENT, tag=tag, other=value)
