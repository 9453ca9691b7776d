"""Trees along which a broadcast from rank 0 travels: the parent and the children of each rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class TreeNode:
    """One rank of a tree: whom it receives from (-1: it is the root), and whom it sends each segment to, in order."""

    parent: int
    children: tuple[int, ...]


def _linear(rank: int, ranks: int) -> TreeNode:
    return TreeNode(0, ()) if rank else TreeNode(-1, tuple(range(1, ranks)))


def _pipeline(rank: int, ranks: int) -> TreeNode:
    return TreeNode(rank - 1, _below((rank + 1,), ranks))


def _binary(rank: int, ranks: int) -> TreeNode:
    return TreeNode((rank - 1) // 2 if rank else -1, _below((2 * rank + 1, 2 * rank + 2), ranks))


def _binomial(rank: int, ranks: int) -> TreeNode:
    """Return a binomial node: its parent lacks its lowest bit; the child with the largest tree below it comes first."""
    lowest = rank & -rank if rank else 1 << (ranks - 1).bit_length()
    children = [rank + (1 << bit) for bit in reversed(range(lowest.bit_length() - 1))]
    return TreeNode(rank - lowest if rank else -1, _below(tuple(children), ranks))


def _below(ranks: tuple[int, ...], size: int) -> tuple[int, ...]:
    return tuple(rank for rank in ranks if rank < size)


_SHAPES: dict[str, Callable[[int, int], TreeNode]] = {
    "linear": _linear,
    "pipeline": _pipeline,
    "binary": _binary,
    "binomial": _binomial,
}
ALGORITHMS = tuple(_SHAPES)


def node(algorithm: str, rank: int, ranks: int) -> TreeNode:
    """Return the place of a rank in the tree of an algorithm (one of ALGORITHMS) over `ranks` ranks."""
    return _SHAPES[algorithm](rank, ranks)
