"""The record of a shot that has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How a shot ended."""

    GOOD = "good"
    FAILED = "failed"  # the program gave an exit status other than 0, or not all outputs
    HUNG = "hung"  # it took longer than it may
    LOST = "lost"  # hosts vanished with it, again and again


@dataclass(frozen=True)
class Record:
    """A shot that has ended.

    seconds: its response time: from when it was given to a host until its results were here.
    outputs: by name, of a good one.
    """

    shot: int
    kind: Kind
    host: str
    seconds: float
    outputs: Mapping[str, float]
    error: str = ""
