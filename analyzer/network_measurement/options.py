"""Options of the way from rows to a model. Imports nothing, so that the command line starts quickly."""

from __future__ import annotations

from dataclasses import dataclass

TYPICAL = "typical"
RULES = ("negative", "deviation", "neighbourhood")
FILTERS = (TYPICAL, *RULES)
"""Rules to leave out rows; see `sample`."""
DETECTORS = ("changepoint", "thesis", "netgauge")
"""Ways to find changes, the default first: `detectors`."""
NEIGHBOURS = ("value", "size", "plane")
"""Senses in which rows are near: `neighbourhood`."""
METHODS = ("complete", "single")
METRICS = ("manhattan", "euclidean")
"""Distances for the clustering."""


@dataclass(frozen=True)
class EstimateOptions:
    """Behind some the names of the thesis's `ngmpi.options` (Rodriguez 2011, section 3.3.2)."""

    rules: tuple[str, ...] = (TYPICAL,)
    level: int | None = None  # of the network's speed, 1: the fastest; None: as `tracelib.schema.levels` chooses
    tolerance: float = 0.02  # deviations from a line of this share of the time are never taken for a change
    window: float = 0.1  # window.size: share of all rows in a neighbourhood
    neighbours: str = "value"
    guard: float = 3.0  # standard deviations by which times rise at a fracture; 0: they need not
    method: str = "complete"  # clus.method
    metric: str = "manhattan"  # clus.metric
    threshold: float = 0.1  # clus.threshold: least distance of centres, as a share of the largest possible
    factor: float = 2.0  # netgauge's: so many times the residual grows at a change


DEFAULTS = EstimateOptions()
