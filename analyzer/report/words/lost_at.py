"""Places at which time is lost, in words and as plain data."""

from __future__ import annotations

from typing import Any

from analyzer.metrics.computing import Uneven
from analyzer.metrics.lost_at import LostAt
from analyzer.report.words import units


def uneven_text(most: Uneven) -> str:
    """Where, and how much longer than others the longest rank computes there."""
    return (
        f"{most.text}; rank {most.rank} computes {units.time(most.most_ns)} there, a rank on average "
        f"{units.time(most.mean_ns)}"
    )


def lost_at_json(found: LostAt) -> dict[str, Any]:
    """Seconds under stable names; what is lost most comes first."""
    return {
        "uneven": [
            {"name": u.text, "rank": u.rank, "most_s": u.most_ns / 1e9, "mean_s": u.mean_ns / 1e9} for u in found.uneven
        ],
        "in_calls": [{"name": one.text, "time_s": one.ns / 1e9} for one in found.in_calls],
    }
