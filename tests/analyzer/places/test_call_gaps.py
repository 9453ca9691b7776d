"""The stretch between two calls: by hand, and against a walk along both chains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from path_tables import chain_of, path_tables
from test_places import APP, FUNCTIONS, LIBC, MODULES, MPI, PYTHON, START, places_of

from analyzer.places import NameCache, Places
from analyzer.places.call_gaps import CallGaps, GapKind
from analyzer.places.phrases import call_at, computing_at
from tracelib.schema import PATH_LOST

HERE = [*START, (APP, 2)]


@pytest.mark.parametrize(
    ("first", "second", "kind", "text"),
    [
        # the same function, in which one call is made by a function that was inlined
        ([*HERE, (APP, 3)], [*HERE, (APP, 4)], GapKind.BETWEEN, "exchange.c:212-213 in exchange"),
        ([*HERE, (APP, 4)], [*HERE, (APP, 3)], GapKind.BETWEEN, "exchange.c:213 and on in exchange"),
        # through MPI's own functions, of which nobody asks
        ([*HERE, (APP, 3), (MPI, 1)], [*HERE, (APP, 4), (MPI, 1)], GapKind.BETWEEN, "exchange.c:212-213 in exchange"),
        ([*HERE, (APP, 3), (MPI, 1)], [*HERE, (APP, 3), (MPI, 2)], GapKind.BEFORE, "exchange.c:212 in exchange"),
        # the same call again, and callers that are not the same function
        ([*HERE, (APP, 3)], [*HERE, (APP, 3)], GapKind.BEFORE, "exchange.c:212 in exchange"),
        ([*START, (APP, 2), (APP, 3)], [*START, (APP, 9), (APP, 3)], GapKind.BEFORE, "exchange.c:212 in exchange"),
        ([*START, (APP, 2), (APP, 3)], [(None, PATH_LOST), (APP, 4)], GapKind.BEFORE, "halo.h:7 in halo"),
        # without lines
        ([*START, (APP, 0x1A2B)], [*START, (APP, 3)], GapKind.BEFORE, "exchange.c:212 in exchange"),
        # through an interpreter
        ([(PYTHON, 1), (FUNCTIONS[0], 12), (PYTHON, 1)], [(PYTHON, 1), (FUNCTIONS[0], 20), (PYTHON, 2), (MPI, 1)],
         GapKind.BETWEEN, "solver.py:12-20 in Solver.step"),
        # called back by a library
        (
            [*START, (LIBC, 1), (APP, 3)],
            [*START, (LIBC, 1), (APP, 4)],
            GapKind.BETWEEN,
            "exchange.c:212-213 in exchange",
        ),
    ],
)  # fmt: skip
def test_by_hand(first, second, kind, text):
    places, paths = places_of(first, second)
    found = CallGaps(places).gap(*paths)
    wanted = text.replace("exchange.c", "left/exchange.c") if "left" in places.text(places.place[paths[0]]) else text
    assert (found.kind, found.text) == (kind, wanted)


def test_before_the_first_call_and_after_the_last():
    places, (path,) = places_of([*HERE, (APP, 4)])
    between = CallGaps(places)
    assert between.gap(0, 0).kind is GapKind.UNKNOWN
    assert (between.gap(0, path).kind, between.gap(path, 0).kind) == (GapKind.BEFORE, GapKind.AFTER)
    assert computing_at(between.gap(0, path), "MPI_Send") == "computing before MPI_Send at halo.h:7 in halo"
    assert computing_at(between.gap(path, 0), "", "MPI_Send") == "computing after MPI_Send at halo.h:7 in halo"
    assert call_at("MPI_Send", "") == "MPI_Send"


SITE = st.tuples(st.sampled_from(FUNCTIONS), st.integers(1, 3))
CHAINS = st.lists(st.lists(SITE, min_size=1, max_size=5).map(tuple), min_size=1, max_size=8)


@given(CHAINS)
def test_it_is_where_two_chains_part(chains):
    """A second implementation, one pair at a time: the first line at which they differ, if it is in one function."""
    tables = path_tables(chains, MODULES, FUNCTIONS)
    by_chain = {chain_of(tables, path): path for path in range(len(tables.paths))}
    places = Places(tables, NameCache())
    between = CallGaps(places)
    pairs = [(one, other) for one in chains for other in chains]
    rows = np.array([[by_chain[one], by_chain[other]] for one, other in pairs])
    for (one, other), number in zip(pairs, between.numbers(*rows.T).tolist(), strict=True):
        found, shown = between.every[number], [visible(chain) for chain in (one, other)]
        expected = None
        for left, right in zip(*shown, strict=False):
            if left != right:
                expected = (left[0], left[1], right[1]) if left[0] == right[0] else None
                break
        if expected is None:
            assert found.kind is GapKind.BEFORE and found.text == places.text(places.place[by_chain[other]])
        else:
            (function, file), first, last = expected
            assert found.kind is GapKind.BETWEEN and found.function == function
            to = f"-{last}" if last >= first else ""
            assert found.where == f"{file.rpartition('/')[2]}:{first}{to}"


def visible(chain):
    """Without the binding's own lines."""
    return [site for site in chain if "mpi4py" not in site[0][1]]
