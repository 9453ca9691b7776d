"""Paths of many ranks as one table, against chains as tuples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from path_tables import chain_of, path_tables

from analyzer.places.paths import PathTables, merged_paths, numbered_sites
from tracelib.schema import FUNCTION, MODULE, PATH, PATH_CUT, PATH_IN_FUNCTION, PATH_LOST, PATH_SHORT

MODULES = [("/bin/app", "ab" * 20), ("/lib/libmpi.so", ""), ("/lib/libx.so", "")]
FUNCTIONS = [("main", "a.py"), ("solve", "b.py")]

places = st.one_of(
    st.tuples(st.sampled_from([path for path, _ in MODULES]), st.integers(1, 4)),
    st.tuples(st.sampled_from(FUNCTIONS), st.integers(1, 3)),
    st.tuples(st.none(), st.sampled_from([PATH_CUT, PATH_LOST])),
)
ranks = st.lists(
    st.tuples(
        st.lists(st.lists(places, min_size=1, max_size=5), max_size=8),
        st.permutations(MODULES),
        st.permutations(FUNCTIONS),
    ),
    max_size=4,
)


def tables_of(parts):
    return [
        path_tables(chains, modules, functions, base=i * 4096) for i, (chains, modules, functions) in enumerate(parts)
    ]


def check(merged, maps, tables):
    chains = [chain_of(merged, path) for path in range(len(merged.paths))]
    assert len(set(chains)) == len(chains)  # each once
    assert (merged.paths["parent"][1:] < np.arange(1, len(chains))).all()
    for table, rows in zip(tables, maps, strict=True):
        assert len(rows) == len(table.paths)
        assert [chains[row] for row in rows] == [chain_of(table, path) for path in range(len(rows))]
    assert set(chains) == {()} | {chains[row] for rows in maps for row in rows}  # and no others


@given(ranks)
def test_chains_that_are_the_same_are_one_path(parts):
    tables = tables_of(parts)
    check(*merged_paths(tables), tables)


@given(ranks)
def test_merged_in_two_steps(parts):
    tables = tables_of(parts)
    (first, left), (second, right) = (merged_paths(half) for half in (tables[:2], tables[2:]))
    merged, (of_first, of_second) = merged_paths([first, second])
    check(merged, [of_first[rows] for rows in left] + [of_second[rows] for rows in right], tables)


def test_modules_are_the_same_by_build_id_or_path():
    """A copy of one file in two folders is one module; without a build id, two."""
    left = path_tables([[("/a/app", 8), ("/a/lib", 9)]], [("/a/app", "12"), ("/a/lib", "")])
    right = path_tables([[("/b/app", 8), ("/b/lib", 9)]], [("/b/app", "12"), ("/b/lib", "")])
    merged, maps = merged_paths([left, right])
    assert merged.modules["path"].tolist() == [b"", b"/a/app", b"/a/lib", b"/b/lib"]
    assert [rows.tolist() for rows in maps] == [[0, 1, 2], [0, 1, 3]]
    assert merged.paths.tolist() == [(0, 0, 0), (0, 1, 8), (1, 2, 9), (1, 3, 9)]


def test_no_ranks_and_empty_tables():
    merged, maps = merged_paths([])
    assert merged.paths.tolist() == [(0, 0, 0)] and not maps
    nothing = PathTables(np.empty(0, PATH), np.empty(0, MODULE), np.empty(0, FUNCTION))
    merged, maps = merged_paths([nothing, path_tables([])])
    assert merged.paths.tolist() == [(0, 0, 0)] and [rows.tolist() for rows in maps] == [[0], [0]]


@given(st.lists(st.tuples(*[st.integers(0, 7) | st.integers(0, 2**32 - 1)] * 2, st.integers(0, 5)), min_size=1))
def test_rows_that_refer_to_nothing(rows):
    """In damaged files each path still has an end, and invalid references are unknown."""
    tables = path_tables([], MODULES, FUNCTIONS)
    damaged = PathTables(np.array(rows, PATH), tables.modules, tables.functions)
    merged, (went,) = merged_paths([damaged])
    assert len(went) == len(rows) and went[0] == 0
    for row, path in enumerate(went[1:], 1):
        _, module, offset = rows[row]
        known = 0 < module <= 3 or module - PATH_IN_FUNCTION in (1, 2)
        ends = (0, offset if offset in (PATH_CUT, PATH_SHORT) and module == 0 else PATH_LOST)
        found = merged.paths[path]
        assert (int(found["module"]), int(found["offset"])) == ends or known
        assert len(chain_of(merged, path)) <= len(rows)


@given(st.lists(st.tuples(st.just(0), st.integers(0, 3), st.integers(0, 3))))
def test_numbered_sites(rows):
    table = np.array(rows, PATH)
    first, number = numbered_sites(table)
    assert [table[row].tolist() for row in first[number]] == rows
    assert len(set(rows)) == len(first) == len(set(number))


def test_a_hundred_thousand_paths():
    """Against a dictionary."""
    rng, count = np.random.default_rng(1), 100_001
    rows = np.zeros(count, PATH)
    rows["parent"][1:] = rng.random(count - 1) ** 0.5 * np.arange(1, count) * (np.arange(1, count) > 20)
    rows["module"][1:], rows["offset"][1:] = rng.integers(1, 4, count - 1), rng.integers(0, 30, count - 1)
    tables = path_tables([], MODULES)
    merged, (went,) = merged_paths([PathTables(rows, tables.modules, tables.functions)])
    numbers, expected = {}, [0]
    for parent, module, offset in rows[1:].tolist():
        expected.append(numbers.setdefault((expected[parent], module, offset), len(numbers) + 1))
    assert len(merged.paths) == len(numbers) + 1
    assert len(set(zip(went.tolist(), expected, strict=True))) == len(merged.paths)  # one to one
