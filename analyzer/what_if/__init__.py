"""Replays of a run with some of its computation faster: the gain is replayed, not guessed."""

from __future__ import annotations

from analyzer.what_if.blocks import BlockProgram, blocks_between_calls, blocks_of_regions
from analyzer.what_if.scaled_replays import WhatIf, each_for_free, what_if

__all__ = ["BlockProgram", "WhatIf", "blocks_between_calls", "blocks_of_regions", "each_for_free", "what_if"]
