"""How often loops inside others are passed in all iterations around them, by one process and by several."""

import pytest
from loop_programs import program, rank_of
from memory_trace import MemoryTrace
from thread_team import by_team

from analyzer.parallel import Team
from analyzer.structure.levels.run_structure import IterationMethod, structure

OWN = ["Bcast", "Gatherv", "Scatterv", "Alltoallv", "Reduce_scatter"]


def counts(trace, team=None):
    """Level, passes, the fewest, the most and all, of each loop."""
    main = structure(trace, team or Team(), IterationMethod.CALLS).main
    return [(p.level, p.count, p.fewest, p.most, p.total) for p in walk(main)]


def walk(part):
    yield part
    for inner in part.inside:
        if inner.iterations:
            yield from walk(inner)


def nested(outer, inner, deepest, slow=1):
    """A loop that makes a Reduce of its own around one whose passes begin with another Reduce, with a third inside; the
    second iteration and the second pass in each take so many times as long."""
    steps = []
    for number in range(outer):
        by = slow if number == 1 else 1
        steps += [(name, 9000 * by) for name in [*OWN[:2], "Reduce", *OWN[2:]]]
        for k in range(inner):
            each = by * (slow if k == 1 else 1)
            steps += [("Reduce", 1000 * each), *[("Scan", 1000 * each), ("Exscan", 1000 * each)] * deepest]
            steps += [("Alltoall", 5000 * each), ("Allgather", 5000 * each)]
    return program(["Bcast", "Bcast", *steps, "Gather"])


@pytest.mark.parametrize("slow", [1, 6])
@pytest.mark.parametrize("outer, inner, deepest", [(10, 4, 5), (3, 3, 5), (4, 4, 5), (5, 6, 9)])
def test_passes_that_only_their_last_call_tells(outer, inner, deepest, slow):
    assert counts(nested(outer, inner, deepest, slow)) == [
        (1, outer, 0, 0, 0),
        (2, inner, inner, inner, outer * inner),
        (3, deepest, deepest, deepest, outer * inner * deepest),
    ]


def uneven(rank):
    """Rank 0 lacks a loop, and passes the other one more often in one iteration."""
    steps = []
    for number in range(12):
        steps += ["Allreduce", *["Scan", "Exscan"] * (9 if rank == 0 and number == 3 else 5)]
        steps += ["Alltoall", "Reduce_scatter"] * 7 if rank else [("Gatherv", 14_000)]
    return rank_of(["Bcast", "Bcast", *steps, "Gather"])


def test_a_team_finds_what_one_process_finds():
    trace = MemoryTrace([uneven(rank) for rank in range(4)])
    alone = counts(trace)
    assert alone == [(1, 12, 0, 0, 0), (2, 5, 5, 5, 60), (2, 7, 7, 7, 84)]
    for size in (2, 3, 4):
        assert by_team(size, lambda team: counts(trace, team)) == [alone] * size
