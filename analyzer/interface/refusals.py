"""Reasons why an analysis is never of some ranks or some places of a run."""

REPLAYS_RANKS = "a replay needs all ranks, because they wait for each other"
REPLAYS_CALLS = "a replay needs all calls, because ranks wait for each other in them"
ALL_CALLS = "it is of all that ranks compute, between whatever calls"
