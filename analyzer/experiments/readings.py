"""Counts of counters in executions of regions, and samples of the node during them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.experiments.columns import NODE_PREFIX
from analyzer.pairing.requests import windows_of_rank
from analyzer.trace import UNKNOWN, Counters, Trace
from analyzer.trace.system import BUSY, NodeSamples
from tracelib.schema import COUNTER_SET_TYPE
from tracelib.schema.node import SYSTEM, SampleKind


def counted_between(trace: Trace, rank: int, visits: np.ndarray) -> dict[str, np.ndarray]:
    """Compute each counter's count in each visit of a region, from readings at begin and end.

    Args:
        trace: The run.
        rank: The rank.
        visits: Visits of regions.

    Returns:
        Counts by counter, shape (visits,). NaN: a reading is missing, or sets of counters took turns in between.
        Counters without any count are left out.
    """
    counters = trace.extra(Counters).known
    if not counters or not len(visits):
        return {}
    time, thread, values, changes = _at_regions(trace, rank)
    found = np.full((len(visits), len(counters)), np.nan)
    for number in np.unique(visits["thread"]).tolist():
        of_visits, of_readings = visits["thread"] == number, thread == number
        found[of_visits] = _differences(time[of_readings], values[of_readings], visits[of_visits])
        turns = np.searchsorted(changes[number], [visits["begin"][of_visits], visits["end"][of_visits]])
        other_set = np.flatnonzero(of_visits)[turns[0] != turns[1]]
        found[np.ix_(other_set, [not counter.whole for counter in counters])] = np.nan
    known = ~np.isnan(found).all(axis=0)
    return {counter.name: found[:, k] for k, counter in enumerate(counters) if known[k]}


def _at_regions(trace: Trace, rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return time, thread and values of readings at begins and ends of regions, and times of changed sets by thread."""
    extra, readings, changes = trace.extra(Counters), [], []
    for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
        samples = extra.samples(rank, begin, end)
        at = samples.at_region
        readings.append((samples.time[at], samples.thread[at], samples.values[at]))
        events = trace.events(begin, end, range(rank, rank + 1))
        changes.append(events[events["type"] == COUNTER_SET_TYPE][["time", "thread"]])
    time, thread, values = (np.concatenate(column) for column in zip(*readings, strict=True))
    every = np.concatenate(changes)
    by_thread = [np.sort(every["time"][every["thread"] == number]) for number in range(int(trace.threads[rank]))]
    return time, thread, values, by_thread


def _differences(time: np.ndarray, values: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """Return last reading at the end minus first reading at the begin of each visit, shape (visits, counters)."""
    if not len(time):
        return np.full((len(visits), values.shape[1]), np.nan)
    first = np.searchsorted(time, visits["begin"]).clip(max=len(time) - 1)
    last = (np.searchsorted(time, visits["end"], "right") - 1).clip(min=0)
    read = (time[first] == visits["begin"]) & (time[last] == visits["end"])
    known = read[:, None] & (values[first] != UNKNOWN) & (values[last] != UNKNOWN) & (values[last] >= values[first])
    return np.where(known, values[last] - values[first], np.nan)


def sampled_between(trace: Trace, node: int, visits: np.ndarray) -> dict[str, np.ndarray]:
    """Compute means over each visit of the samples of its node (`TRACELIB_SYSTEM`), as columns `node_...`.

    A sample holds since the sample before it. Its value is a gauge, a share of the CPU time, or the rate per second of
    a count (bytes, packets). A visit outside the samples has the values of the nearest sample.

    Args:
        trace: The run.
        node: Number of the node.
        visits: Visits of regions.

    Returns:
        Means by column name, shape (visits,).
    """
    found = {}
    for samples in trace.nodes.samples:
        if samples.node == node and len(samples.time) > 1:
            for name in samples.quantities:
                found[NODE_PREFIX + name] = _means(samples, name, visits)
    return found


def _means(samples: NodeSamples, name: str, visits: np.ndarray) -> np.ndarray:
    kind = SYSTEM[name][1] if name != BUSY else SampleKind.CPU_TIME
    length = np.diff(samples.time)
    if kind is SampleKind.GAUGE:
        level = samples.values[name][1:].astype(float)
    elif kind is SampleKind.CPU_TIME:
        level = samples.cpu_share(name)
    else:
        level = samples.increase(name) / np.maximum(length, 1) * 1e9
    area = np.concatenate([[0.0], np.cumsum(level * length)])
    begin, end = (visits[edge].clip(samples.time[0], samples.time[-1]) for edge in ("begin", "end"))
    covered = end - begin
    at = (np.searchsorted(samples.time, begin, "right") - 1).clip(0, len(level) - 1)
    mean = (np.interp(end, samples.time, area) - np.interp(begin, samples.time, area)) / np.maximum(covered, 1)
    return np.where(covered > 0, mean, level[at])
