"""Text about the calls of an iteration: "3 exchanges, 1 reduction"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tracelib.schema.procedures import (
    IMMEDIATE_RECEIVES,
    IMMEDIATE_SENDS,
    RECEIVES,
    SEND_RECEIVES,
    SENDS,
    STARTS,
    TESTS,
    WAITS,
    base_name,
    value_of,
)

MOST = 4
"""Number of kinds that are named; the others are counted."""


def body_of(names: Sequence[str], calls: np.ndarray) -> str:
    """Describe calls, given as numbers of these names (names_of).

    An exchange is a group of nonblocking sends and receives up to the call that waits for them, or a Sendrecv. Blocking
    sends and receives are counted one by one.
    """
    posts = IMMEDIATE_SENDS | IMMEDIATE_RECEIVES | STARTS
    counted: Counter[str] = Counter()
    is_open = False
    for number in calls.tolist():
        name = base_name(names[number])
        if name in posts:
            is_open = True
            continue
        if name in WAITS | TESTS:
            counted["exchange"] += is_open
            is_open = False
            continue
        kind = value_of("word", name)
        if name in SEND_RECEIVES:
            kind = "exchange"
        elif name in SENDS:
            kind = "exchange" if is_open else "send"
            is_open = False
        elif name in RECEIVES:
            kind = "receive"
        counted[kind or name] += 1
    counted["exchange"] += is_open
    return words(counted)


def words(counted: Counter[str]) -> str:
    """Return "3 exchanges, 1 reduction"; the most frequent first."""
    named = [(kind, number) for kind, number in counted.most_common() if number]
    said = [f"{number} {kind if number == 1 else plural(kind)}" for kind, number in named[:MOST]]
    rest = sum(number for _, number in named[MOST:])
    return ", ".join([*said, f"{rest} other calls"] if rest else said) or "no calls"


def plural(word: str) -> str:
    """Return "all-to-alls", "broadcasts", "waits for messages"; procedures keep their names."""
    if word.startswith("MPI_"):
        return word
    noun, preposition, what = word.partition(" for ")
    return f"{noun[:-1]}es{preposition}{what}" if noun.endswith("x") else f"{noun}s{preposition}{what}"


def typical_pass(begins: np.ndarray, end: int) -> tuple[int, int]:
    """Return first and last call of a pass of the commonest length."""
    ends = np.append(begins[1:], end)
    lengths, number = np.unique(ends - begins, return_counts=True)
    which = int(np.flatnonzero(ends - begins == lengths[number.argmax()])[0])
    return int(begins[which]), int(ends[which])
