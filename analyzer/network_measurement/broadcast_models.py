"""Times of segmented broadcasts by the LogGP family: linear, pipeline, binary and binomial trees.

The closed forms stand in Rodriguez 2011 (section 4.5, table 4.10), each a function of one segment's parameters, so
that they take LogGP's constants as well as LoOgGP's, which change with the size. Everything is in seconds and bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LinkAtSize:
    """A link as messages of one size see it (LoOgGP at that size); each a number or an array over settings."""

    latency_s: Any  # L
    overhead_s: Any  # o: a processor's time for one message of that size
    gap_s: Any  # g: between two messages of one byte
    gap_s_per_byte: Any  # G: more for each further byte


def ceil_log2(ranks: Any) -> Any:
    """Return the levels of a tree whose ranks double at each: 0 for 1 rank, 1 for 2, 2 for 3 and 4.

    It is exact for all integers.
    """
    return np.frexp(np.asarray(ranks) - 1.0)[1] * (np.asarray(ranks) > 1)


def _linear(link: LinkAtSize, rest_s: Any, ranks: Any, segments: Any) -> Any:
    """Compute the linear broadcast: the root sends every segment to every other rank, one after the other (F22)."""
    first = link.latency_s + 2 * link.overhead_s - link.gap_s
    return first + segments * (ranks - 1) * (link.gap_s + rest_s)


def _pipeline(link: LinkAtSize, rest_s: Any, ranks: Any, segments: Any) -> Any:
    """Compute the pipeline: each rank hands every segment to the next as soon as it has it (F23)."""
    first = (ranks - 1) * (link.latency_s + 2 * link.overhead_s + rest_s)
    return first + (segments - 1) * (link.gap_s + link.overhead_s + rest_s)


def _binary(link: LinkAtSize, rest_s: Any, ranks: Any, segments: Any) -> Any:
    """Compute the binary tree: each rank hands every segment to two others (F24)."""
    level = link.latency_s + 2 * link.overhead_s + link.gap_s + 2 * rest_s
    return ceil_log2(ranks) * level + (segments - 1) * (link.overhead_s + 2 * link.gap_s + 2 * rest_s)


def _binomial(link: LinkAtSize, rest_s: Any, ranks: Any, segments: Any) -> Any:
    """Compute the binomial tree: at each level every rank that has all segments sends them to one that has none
    (F25)."""
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
    """Return the seconds until the last rank has the last segment. 0 if there is one rank only.

    `link` holds the parameters at `segment_bytes`; `ranks` (P), `segments` (n_s) and `segment_bytes` (m_s) are numbers
    or arrays of one shape.
    """
    rest_s = (np.asarray(segment_bytes) - 1) * link.gap_s_per_byte  # the gap g covers the first byte
    ranks = np.asarray(ranks)
    return np.where(ranks > 1, _MODELS[algorithm](link, rest_s, ranks, np.asarray(segments)), 0.0)[()]
