"""Which iterations of a run a command line asks for."""

from __future__ import annotations

from dataclasses import dataclass

NAME = "iteration"
"""The region that iterations are visits of."""


@dataclass(frozen=True)
class Wanted:
    """What of the iterations was asked for."""

    first: int = 0  # from 1; 0: all of the run
    last: int = 0
    as_region: bool = False

    @property
    def text(self) -> str:
        """ "iteration 113", "iterations 10 to 20"."""
        return f"{NAME} {self.first}" if self.first == self.last else f"{NAME}s {self.first} to {self.last}"
