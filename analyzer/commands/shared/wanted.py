"""Which iterations of a run a command line asks for."""

from __future__ import annotations

from dataclasses import dataclass

NAME = "iteration"
"""The region that iterations are visits of."""


@dataclass(frozen=True)
class Wanted:
    """What of the iterations was asked for."""

    loop: int = 0  # its number, from 1; 0: none was named, and the main one is meant
    first: int = 0  # from 1; 0: all of the loop, or of the run if none was named
    last: int = 0
    as_region: bool = False

    @property
    def is_part(self) -> bool:
        """Whether a part of the run was asked for."""
        return self.loop > 0 or self.first > 0

    def numbers(self, count: int) -> tuple[int, int]:
        """The first, from 0, and how many, of a loop with so many iterations."""
        return (self.first - 1, self.last - self.first + 1) if self.first else (0, count)

    def text(self, count: int) -> str:
        """ "iteration 113 of 200", "iterations 10 to 20 of 200", "loop 2, 60 iterations"; behind the first two "of loop
        2", if it was named."""
        if not self.first:
            return f"loop {self.loop}, {count} {NAME}s"
        said = f"{NAME} {self.first}" if self.first == self.last else f"{NAME}s {self.first} to {self.last}"
        return f"{said} of {count}" + (f" of loop {self.loop}" if self.loop else "")
