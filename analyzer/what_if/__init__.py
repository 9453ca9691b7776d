"""Replays of a run in which some of its computation is faster, to predict the gain."""

from __future__ import annotations

from analyzer.what_if.blocks import BlockProgram, blocks_between_calls, blocks_of_regions
from analyzer.what_if.scaled_replays import WhatIf, each_for_free, what_if

__all__ = ["BlockProgram", "WhatIf", "blocks_between_calls", "blocks_of_regions", "each_for_free", "what_if"]
