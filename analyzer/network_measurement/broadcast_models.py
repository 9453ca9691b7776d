"""Times of segmented broadcasts by the LogGP family: linear, pipeline, binary and binomial trees.

The closed forms are in Rodriguez 2011 (section 4.5, table 4.10). Each is a function of the parameters at one segment's
size. So they take LogGP's constants as well as LoOgGP's parameters, which depend on the size. Units are s and bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LinkAtSize:
    """Parameters of a link for messages of one size. Each is a number, or an array over settings."""

    latency_s: Any  # L
    overhead_s: Any  # o: time of a processor for one message of this size
    gap_s: Any  # g: time between two messages of one byte
    gap_s_per_byte: Any  # G: further time between two messages for each further byte


def ceil_log2(ranks: Any) -> Any:
    """Return ceil(log2(ranks)), the number of levels of a tree in which the ranks double at each level.

    The result is exact for all integers: 0 for 1 rank, 1 for 2, 2 for 3 and 4.
    """
    return np.frexp(np.asarray(ranks) - 1.0)[1] * (np.asarray(ranks) > 1)


def _linear(link: LinkAtSize, rest_s: Any, ranks: Any, segments: Any) -> Any:
    """Return the time of the linear broadcast (F22): the root sends every segment to each other rank in turn."""
    first = link.latency_s + 2 * link.overhead_s - link.gap_s
    return first + segments * (ranks - 1) * (link.gap_s + rest_s)


def _pipeline(link: LinkAtSize, rest_s: Any, ranks: Any, segments: Any) -> Any:
    """Return the time of the pipeline (F23): each rank passes every segment on to the next rank when it arrives."""
    first = (ranks - 1) * (link.latency_s + 2 * link.overhead_s + rest_s)
    return first + (segments - 1) * (link.gap_s + link.overhead_s + rest_s)


def _binary(link: LinkAtSize, rest_s: Any, ranks: Any, segments: Any) -> Any:
    """Return the time of the binary tree (F24): each rank passes every segment on to two other ranks."""
    level = link.latency_s + 2 * link.overhead_s + link.gap_s + 2 * rest_s
    return ceil_log2(ranks) * level + (segments - 1) * (link.overhead_s + 2 * link.gap_s + 2 * rest_s)


def _binomial(link: LinkAtSize, rest_s: Any, ranks: Any, segments: Any) -> Any:
    """Return the time of the binomial tree (F25): each rank that has all segments sends them to another."""
    first = link.latency_s + 2 * link.overhead_s - link.gap_s
    return ceil_log2(ranks) * (first + segments * (link.gap_s + rest_s))


_MODELS: dict[str, Callable[[LinkAtSize, Any, Any, Any], Any]] = {
    "linear": _linear,
    "pipeline": _pipeline,
    "binary": _binary,
    "binomial": _binomial,
}
ALGORITHMS = tuple(_MODELS)


def broadcast_time(algorithm: str, link: LinkAtSize, ranks: Any, segments: Any, segment_bytes: Any) -> Any:
    """Predict the time in s until the last rank has the last segment of a broadcast. 0 for a single rank.

    Numbers may also be arrays of one shape.

    Args:
        algorithm: One of `ALGORITHMS`.
        link: Parameters of the link at the size `segment_bytes`.
        ranks: Number of ranks, P.
        segments: Number of segments, n_s.
        segment_bytes: Size of a segment in bytes, m_s.
    """
    rest_s = (np.asarray(segment_bytes) - 1) * link.gap_s_per_byte  # the gap g covers the first byte
    ranks = np.asarray(ranks)
    return np.where(ranks > 1, _MODELS[algorithm](link, rest_s, ranks, np.asarray(segments)), 0.0)[()]
