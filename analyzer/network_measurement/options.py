"""Options for fitting a model to a network measurement. Imports nothing, so that the command line starts quickly."""

from __future__ import annotations

from dataclasses import dataclass

TYPICAL = "typical"
RULES = ("negative", "deviation", "neighbourhood")
FILTERS = (TYPICAL, *RULES)
"""Names of rules by which rows are left out, see `sample`."""
DETECTORS = ("changepoint", "thesis", "netgauge")
"""Names of the ways to find changes of the network's behaviour, default first, see `detectors`."""
NEIGHBOURS = ("value", "size", "plane")
"""Names of the distances by which rows are neighbours, see `neighbourhood`."""
METHODS = ("complete", "single")
METRICS = ("manhattan", "euclidean")
"""Names of the distances of patterns in the clustering."""


@dataclass(frozen=True)
class EstimateOptions:
    """Options for fitting a LoOgGP model.

    Comments name the options of the thesis's `ngmpi.options` (Rodriguez 2011, section 3.3.2).
    """

    rules: tuple[str, ...] = (TYPICAL,)
    level: int | None = None  # speed level of the network, 1: the fastest; None: as `tracelib.schema.levels` chooses
    tolerance: float = 0.02  # deviations from a line below this share of the time are never taken for a change
    window: float = 0.1  # window.size: share of all rows that are in a neighbourhood
    neighbours: str = "value"
    guard: float = 3.0  # standard deviations by which times must rise at a fracture; 0: no condition
    method: str = "complete"  # clus.method
    metric: str = "manhattan"  # clus.metric
    threshold: float = 0.1  # clus.threshold: least distance of cluster centres, share of the largest possible
    factor: float = 2.0  # netgauge: factor by which the residual grows at a change


DEFAULTS = EstimateOptions()
