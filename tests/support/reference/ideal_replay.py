"""A second opinion on .dim files: replays one on a network without latency and with infinite bandwidth.

Independent of the writer. Rules: messages of `eager_bytes` or more wait for their receive, without it those whose
record says so (`sync` 1); every collective waits for all members; MPI calls without a record take no time ("Dimemas
5.5.0", with and without -S, and an ideal machine).
"""

from __future__ import annotations

from collections import defaultdict, deque
from pathlib import Path


class _Task:
    def __init__(self) -> None:
        self.records: list[list[str]] = []
        self.at = 0
        self.now = 0
        self.posted: dict[tuple, deque[int]] = defaultdict(deque)  # Irecv: which message of the channel
        self.sent = False  # the send at `at` is announced
        self.arrived = False  # the collective at `at` is entered


def replay(path: Path, eager_bytes: int | None = None) -> list[int]:
    """End of each task in ns. Raises AssertionError on a deadlock."""
    return _Replay(path, eager_bytes).run()


class _Replay:
    def __init__(self, path: Path, eager_bytes: int | None) -> None:
        self.eager = eager_bytes
        self.members: dict[int, int] = {}
        self.sends: dict[tuple, list[tuple[int, int]]] = defaultdict(list)  # channel -> (time, bytes)
        self.receives: dict[tuple, list[int]] = defaultdict(list)  # channel -> time of posting
        self.rounds: dict[int, list[dict[int, int]]] = defaultdict(list)  # communicator -> arrivals
        lines = path.read_text().splitlines()
        self.tasks = [_Task() for _ in range(int(lines[0].split('":')[1].split(":")[1].split("(")[0]))]
        self.joined: dict[tuple[int, int], int] = defaultdict(int)
        for line in lines[1:]:
            fields = line.split(":")
            if fields[0] == "d":
                self.members[int(fields[2])] = int(fields[3])
            elif fields[0] != "s":
                self.tasks[int(fields[1])].records.append(fields)

    def run(self) -> list[int]:
        moved = True
        while moved:
            moved = False
            for number, task in enumerate(self.tasks):
                while task.at < len(task.records) and self.step(number, task):
                    task.at += 1
                    moved = True
        assert all(task.at == len(task.records) for task in self.tasks), "deadlock"
        return [task.now for task in self.tasks]

    def step(self, number: int, task: _Task) -> bool:
        record = task.records[task.at]
        if record[0] == "20":
            return True
        if record[0] == "1":
            task.now += round(float(record[3]) * 1e9)
            return True
        if record[0] == "2":
            return self.send(number, task, record)
        if record[0] == "3":
            return self.receive(number, task, record)
        assert record[0] == "10"
        return self.collective(number, task, record)

    def send(self, number: int, task: _Task, record: list[str]) -> bool:
        peer, size, tag, comm, sync = map(int, record[3:8])
        channel = (number, peer, tag, comm)
        if not task.sent:
            self.sends[channel].append((task.now, size))
            task.sent = True
        large = sync & 1 if self.eager is None else size >= self.eager
        if large and not sync & 2:
            place = len(self.sends[channel]) - 1
            if len(self.receives[channel]) <= place:
                return False
            task.now = max(task.now, self.receives[channel][place])
        task.sent = False
        return True

    def receive(self, number: int, task: _Task, record: list[str]) -> bool:
        peer, _, tag, comm, kind = map(int, record[3:8])
        channel = (peer, number, tag, comm)
        if kind == 1:
            task.posted[channel].append(len(self.receives[channel]))
            self.receives[channel].append(task.now)
            return True
        if kind == 0 and not task.sent:
            task.posted[channel].append(len(self.receives[channel]))
            self.receives[channel].append(task.now)
            task.sent = True
        place = task.posted[channel][0 if kind == 2 else -1]
        if len(self.sends[channel]) <= place:
            return False
        task.posted[channel].popleft() if kind == 2 else task.posted[channel].pop()
        task.now = max(task.now, self.sends[channel][place][0])
        task.sent = False
        return True

    def collective(self, number: int, task: _Task, record: list[str]) -> bool:
        comm = int(record[4])
        assert record[9] == "1", "only blocking collectives"
        if not task.arrived:
            turn = self.joined[comm, number]
            if turn == len(self.rounds[comm]):
                self.rounds[comm].append({})
            self.rounds[comm][turn][number] = task.now
            self.joined[comm, number] += 1
            task.arrived = True
        arrivals = self.rounds[comm][self.joined[comm, number] - 1]
        if len(arrivals) < self.members[comm]:
            return False
        task.now = max(arrivals.values())
        task.arrived = False
        return True
