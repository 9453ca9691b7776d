"""Names of analyzer.results.open_part by which commands know them."""

from analyzer.results.open_part import ITERATION_REGION as NAME
from analyzer.results.open_part import IterationChoice as Wanted

__all__ = ["NAME", "Wanted"]
