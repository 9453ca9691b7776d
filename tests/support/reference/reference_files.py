"""Files in the reference simulator: servers that take one request after the other.

Source: docs/machine.md, `[files]`, and docs/analyze-replay.md, "Files".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_machine import Costs, duration, nearest
from reference_state import FILE, Instance, Thread

from analyzer.program.operation import FileAccess, OperationFlag

MOVES = {FileAccess.READ: "read_bandwidth_mb", FileAccess.WRITE: "write_bandwidth_mb"}
ASKS = {FileAccess.OPEN: "open_s", FileAccess.CLOSE: "close_s", FileAccess.SYNC: "sync_s"}
ORDER = ("latency_s", "read_bandwidth_mb", "write_bandwidth_mb", "open_s", "close_s", "sync_s")


class Files:
    """The part of `Reference` that reads and writes files."""

    costs: Costs
    now: int
    file_served: list[tuple[int, int]]  # what servers did: from when until when
    file_waits: int  # requests that found all servers busy
    schedule: Callable[..., None]
    make_ready: Callable[[Thread], None]

    def file(self, thread: Thread, op: dict[str, Any]) -> str | None:
        if self.costs.machine.files is None:
            if op["tag"] == FileAccess.BEGIN:
                thread.requests[op["request"]] = self.now
            return self.until(thread, self.now + self.rest(thread, op))
        if op["flags"] & OperationFlag.OF_FILE:
            return self.until(thread, self.served(thread.requests.pop(op["request"]), self.duration(thread, op)))
        over = self.served(self.now, self.duration(thread, op))
        if op["request"] < 0:
            return self.until(thread, over)
        thread.requests[op["request"]] = over
        return None

    def file_wait(self, thread: Thread, op: dict[str, Any]) -> str | None:
        over = thread.requests.pop(op["request"], 0)
        return self.until(thread, self.now + self.rest(thread, op) if self.costs.machine.files is None else over)

    @staticmethod
    def rest(thread: Thread, op: dict[str, Any]) -> int:
        """As in the traced run, less what it waited for others there."""
        met, thread.met_before = thread.met_before, 0
        return max(op["other"] - met, 0)

    def until(self, thread: Thread, time: int) -> str | None:
        if time <= self.now:
            return None
        self.schedule(time, FILE, thread.key(), lambda: self.make_ready(thread))
        return "file"

    def duration(self, thread: Thread, op: dict[str, Any]) -> int:
        files, draws = self.costs.machine.files, thread.draws
        assert files and draws
        number = {name: self.costs.first_of_files + k for k, name in enumerate(ORDER)}
        if (rate := MOVES.get(op["tag"])) is not None:
            latency = nearest(draws.time(files.latency_s, number["latency_s"]) * 1e9)
            size = op["bytes"]
            if files.block_bytes:
                size = -(-size // files.block_bytes) * files.block_bytes
            return latency + duration(size, draws.rate(getattr(files, rate), number[rate]))
        if (time := ASKS.get(op["tag"])) is not None:
            return nearest(draws.time(getattr(files, time), number[time]) * 1e9)
        return 0

    def served(self, asked: int, ns: int) -> int:
        """When a request is over: it takes the server that is free first, from then on."""
        files = self.costs.machine.files
        assert files
        servers = int(files.servers)  # type: ignore[arg-type]
        if not ns or not servers:
            return asked + ns
        ends = sorted((end for _, end in self.file_served), reverse=True)[:servers]
        begins = max(asked, ends[-1]) if len(ends) == servers else asked
        self.file_waits += begins > asked
        self.file_served.append((begins, begins + ns))
        return begins + ns

    @staticmethod
    def met(thread: Thread, instance: Instance, op: dict[str, Any]) -> None:
        """All members are there that met for a file."""
        if instance.of_file:
            thread.met_before = max(max(o["other"] for o in instance.entered.values()) - op["other"], 0)
