"""Which sends waited for their receives in a replay, and who says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.metrics.eager import LEAST_EAGER
from analyzer.operations.operation import Program
from analyzer.replay.machine import AS_CALLS, Machine
from analyzer.replay.machine_fields import mean_of
from analyzer.report import units

_NEVER = 1 << 62


@dataclass(frozen=True)
class Eager:
    """From how many bytes on sends wait (None: as their calls say; a random number: its mean), and who says so:
    "machine", "run" or "calls"."""

    from_bytes: int | None
    origin: str

    @classmethod
    def of(cls, machine: Machine, program: Program) -> Eager:
        """That of a replay. "run" is of MPI_Send alone: other calls say themselves whether they wait."""
        if machine.eager_limit is not None and machine.eager_limit != AS_CALLS:
            return cls(round(mean_of(machine.eager_limit)), "machine")
        if machine.eager_limit is None and program.buffered >= 0:
            return cls(program.buffered + 1, "run")
        return cls(None, "calls")

    @property
    def text(self) -> str:
        """A sentence."""
        if self.from_bytes is None:
            return "Sends wait for their receives as their calls say: MPI_Send does."
        if self.origin == "machine" and self.from_bytes >= _NEVER:
            return "No send waits for its receive, as the machine says."
        if self.origin == "machine":
            return f"Sends of {units.size(self.from_bytes)} or more wait for their receives, as the machine says."
        shown = self.from_bytes - 1
        said = "as the run shows" if shown > LEAST_EAGER else "as in every MPI; the run shows no more"
        return f"MPI_Send of up to {units.size(shown)} does not wait for its receive, {said}."

    def as_json(self) -> dict[str, Any]:
        """Under stable names."""
        endless = self.from_bytes is not None and self.from_bytes >= _NEVER
        return {"from": self.origin, "waits_from_bytes": None if endless else self.from_bytes}


def eager_text(machine: Machine, programs: Sequence[Program]) -> str:
    """A line for each that differs."""
    return "\n".join(dict.fromkeys(Eager.of(machine, program).text for program in programs if len(program.ops)))


def eager_json(machine: Machine, programs: Sequence[Program]) -> list[dict[str, Any]]:
    """One of each run."""
    return [Eager.of(machine, program).as_json() for program in programs]
