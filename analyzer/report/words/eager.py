"""Sentences on the eager limit of a replay: the sends that wait for their receives, and what the limit comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.machine.description import AS_CALLS, Machine
from analyzer.machine.fields import mean_of
from analyzer.metrics.eager import LEAST_EAGER
from analyzer.program.model import Program
from analyzer.report.words import units

_NEVER = 1 << 62


@dataclass(frozen=True)
class Eager:
    """Message size from which on sends wait for their receives in a replay, and what decides it.

    Attributes:
        from_bytes: The size; for a random limit its mean; None: each call decides.
        origin: What decides: "machine", "run" or "calls".
    """

    from_bytes: int | None
    origin: str

    @classmethod
    def from_replay(cls, machine: Machine, program: Program) -> Eager:
        """Find the limit of a replay of a program on a machine.

        A limit from the run ("run") concerns MPI_Send only. Other calls say by themselves whether they wait.
        """
        if machine.eager_limit is not None and machine.eager_limit != AS_CALLS:
            return cls(round(mean_of(machine.eager_limit)), "machine")
        if machine.eager_limit is None and program.buffered >= 0:
            return cls(program.buffered + 1, "run")
        return cls(None, "calls")

    @property
    def text(self) -> str:
        """A sentence that says which sends wait."""
        if self.from_bytes is None:
            return "Every MPI_Send waits for its receive. Other sends wait if their call says so."
        if self.origin == "machine" and self.from_bytes >= _NEVER:
            return "No send waits for its receive: the machine has no eager limit."
        if self.origin == "machine":
            return f"Sends of {units.size(self.from_bytes)} or more wait for their receive: the machine says so."
        shown = self.from_bytes - 1
        text = f"MPI_Send of up to {units.size(shown)} does not wait for its receive"
        if shown > LEAST_EAGER:
            return f"{text}: the run shows this."
        return f"{text}: every MPI buffers that much, and the run does not show that its MPI buffers more."

    def as_json(self) -> dict[str, Any]:
        """Return the limit for JSON."""
        endless = self.from_bytes is not None and self.from_bytes >= _NEVER
        return {"from": self.origin, "waits_from_bytes": None if endless else self.from_bytes}


def eager_note(buffered: int) -> str:
    """Say which sends wait in a .dim file, to follow the command that replays the file. "": unknown.

    `buffered`: largest message in bytes for which MPI_Send does not wait; -1: unknown.
    """
    if buffered < 0:
        return ""
    size = units.size(buffered)
    waits = f"MPI_Send of up to {size} does not wait for its receive"
    return f". In this file {waits} (Dimemas -S {buffered + 1} sets this limit for all sends)."


def eager_text(machine: Machine, programs: Sequence[Program]) -> str:
    """Say which sends wait in the replays of several programs, one line for each different answer."""
    return "\n".join(
        dict.fromkeys(Eager.from_replay(machine, program).text for program in programs if len(program.ops))
    )


def eager_json(machine: Machine, programs: Sequence[Program]) -> list[dict[str, Any]]:
    """Return the limit of each program's replay for JSON."""
    return [Eager.from_replay(machine, program).as_json() for program in programs]
