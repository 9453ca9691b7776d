"""How much each rank of a Python program should compute, by a plan or by what was measured in the run.

docs/balance.md shows it. Source: search-and-balance specification, section 2: MWD applies the fractions as the initial
plan, and MON watches a run and plans again when the estimate is off. `tracelib_balance.h` does the same in C.
"""

from __future__ import annotations

from tracelib.balance.initial import Share, ShareOrigin, moves, shares
from tracelib.balance.monitor import Monitor
from tracelib.schema.shares import SharePlan, read_plan, split

__all__ = ["Monitor", "Share", "ShareOrigin", "SharePlan", "moves", "read_plan", "shares", "split"]
