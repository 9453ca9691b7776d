"""One-sided operations in the reference simulator: what is waited for, and locks of windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from reference_state import Thread

EXCLUSIVE = 1


class Windows:
    """The part of `Reference` that says who waits at a window."""

    accesses: Counter[tuple[int, ...]]
    held: dict[tuple[int, int], list[tuple[int, int, int]]]
    queues: dict[tuple[int, int], dict[int, list[tuple[Thread, int]]]]
    make_ready: Callable[[Thread], None]

    def accesses_wait(self, thread: Thread, op: dict[str, Any]) -> tuple[str, int] | None:
        place = self.place(thread, op, op["peer"])
        return ("accesses", place) if self.accesses[place] else None

    @staticmethod
    def place(thread: Thread, op: dict[str, Any], target: int) -> tuple[int, ...]:
        """Return the key of a rank's operations on a target of an RMA window (-1: all targets)."""
        return thread.run, thread.rank, op["comm"], target

    def lock(self, thread: Thread, op: dict[str, Any]) -> tuple[str, Any] | None:
        """Nobody holds what excludes it, and nobody asked for the same target before; -1 are all targets."""
        window, target = (thread.run, op["comm"]), op["peer"]
        queues = self.queues.setdefault(window, {})
        if target not in queues and self.is_free(window, target, op["tag"]):
            self.held.setdefault(window, []).append((thread.rank, target, op["tag"]))
            return None
        queues.setdefault(target, []).append((thread, op["tag"]))
        return "lock", op

    def is_free(self, window: tuple[int, int], target: int, kind: int) -> bool:
        of_this = [k for _, t, k in self.held.get(window, []) if -1 in (t, target) or t == target]
        return not of_this if kind == EXCLUSIVE else EXCLUSIVE not in of_this

    def unlock(self, thread: Thread, op: dict[str, Any]) -> None:
        window, target = (thread.run, op["comm"]), op["peer"]
        held = self.held[window]
        held.remove(next(one for one in held if one[:2] == (thread.rank, target)))
        queues = self.queues[window]
        for one in [target, *([-1] if target >= 0 else queues)]:
            while (queue := queues.get(one)) and self.is_free(window, one, queue[0][1]):
                waiting, kind = queue.pop(0)
                held.append((waiting.rank, one, kind))
                if not queue:
                    del queues[one]
                self.make_ready(waiting)
