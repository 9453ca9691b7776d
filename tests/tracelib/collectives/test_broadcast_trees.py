"""The trees of the broadcasts against their definitions."""

from hypothesis import given
from hypothesis import strategies as st

from tracelib.collectives.trees import ALGORITHMS, TreeNode, node

RANKS = st.integers(1, 300)


def nodes(algorithm: str, ranks: int) -> list[TreeNode]:
    return [node(algorithm, rank, ranks) for rank in range(ranks)]


@given(st.sampled_from(ALGORITHMS), RANKS)
def test_everybody_is_told_once_by_the_one_it_listens_to(algorithm, ranks):
    tree = nodes(algorithm, ranks)
    told = [(child, rank) for rank, n in enumerate(tree) for child in n.children]
    assert sorted(told) == [(rank, tree[rank].parent) for rank in range(1, ranks)]
    assert tree[0].parent == -1
    for rank in range(ranks):
        steps = 0
        while rank > 0:
            rank, steps = tree[rank].parent, steps + 1
            assert steps < ranks


def depth(tree: list[TreeNode], rank: int) -> int:
    return 0 if rank == 0 else 1 + depth(tree, tree[rank].parent)


@given(RANKS)
def test_linear_is_a_star_and_the_pipeline_a_chain(ranks):
    assert nodes("linear", ranks)[0].children == tuple(range(1, ranks))
    assert [n.parent for n in nodes("pipeline", ranks)] == list(range(-1, ranks - 1))


@given(RANKS)
def test_a_binary_tree_is_filled_level_by_level(ranks):
    tree = nodes("binary", ranks)
    assert max(len(n.children) for n in tree) <= 2
    assert [depth(tree, rank) for rank in range(ranks)] == [(rank + 1).bit_length() - 1 for rank in range(ranks)]


@given(RANKS)
def test_a_binomial_tree_doubles_who_knows_at_each_level(ranks):
    """Round by round, every rank that knows tells its next child: all know after the least rounds there can be."""
    tree = nodes("binomial", ranks)
    waiting = {rank: list(n.children) for rank, n in enumerate(tree)}
    known, rounds = [0], 0
    while len(known) < ranks:
        assert len(known) == 2**rounds or ranks & (ranks - 1)
        rounds += 1
        known += [waiting[rank].pop(0) for rank in list(known) if waiting[rank]]
    assert rounds == (ranks - 1).bit_length()
    assert not any(waiting.values())


def test_eight_ranks_by_hand():
    assert [n.children for n in nodes("binomial", 8)] == [(4, 2, 1), (), (3,), (), (6, 5), (), (7,), ()]
    assert [n.children for n in nodes("binary", 5)] == [(1, 2), (3, 4), (), (), ()]
