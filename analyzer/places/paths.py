"""Call paths of many ranks, merged into one table. Equal chains of places become one path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.places.modules import LoadedModule
from tracelib.schema import FUNCTION, MODULE, PATH, PATH_CUT, PATH_IN_FUNCTION, PATH_LOST, PATH_SHORT


@dataclass(frozen=True)
class PathTables:
    """Tables `paths`, `modules` and `functions` of one rank, or merged from several ranks.

    Row 0 of each table stands for nothing. The path of a caller precedes the paths of the functions that it calls.
    """

    paths: np.ndarray  # PATH
    modules: np.ndarray  # MODULE
    functions: np.ndarray  # FUNCTION

    @classmethod
    def empty(cls) -> PathTables:
        """Return tables that have row 0 only."""
        return cls(*(np.zeros(1, dtype) for dtype in (PATH, MODULE, FUNCTION)))

    def module(self, row: int) -> LoadedModule:
        """Return the path and the build id in a row of the table `modules`."""
        return LoadedModule(text_of(self.modules["path"][row]), text_of(self.modules["build_id"][row]))


def text_of(stored: bytes) -> str:
    """Convert a fixed-length byte text of a table to str, up to its first zero byte."""
    return stored.split(b"\0", 1)[0].decode("utf-8", "replace")


def merged_paths(tables: Sequence[PathTables]) -> tuple[PathTables, list[np.ndarray]]:
    """Merge the paths of several ranks.

    Modules are the same if they have the same build id or, without one, the same path. Columns with memory addresses,
    which differ by rank, become 0. A row with an invalid reference, as in a damaged file, becomes PATH_LOST. The result
    may be merged again with paths of other ranks.

    Args:
        tables: Tables of each rank.

    Returns:
        The merged tables, and for each rank the merged row of each of its paths.
    """
    modules, module_rows = _merged_rows([_modules(table.modules) for table in tables], MODULE, _identity)
    functions, function_rows = _merged_rows([table.functions for table in tables], FUNCTION, bytes)
    parts = [_renumbered(*each) for each in zip(tables, module_rows, function_rows, strict=True)]
    paths, rows = _merged_chains(parts)
    ends = np.cumsum([len(part) for part in parts])
    went = [rows[end - len(part) : end] for part, end in zip(parts, ends, strict=True)]
    return PathTables(paths, modules, functions), went


def numbered_sites(paths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct pairs (module, offset) of paths in sorted order.

    Returns:
        The first row of each number, and the number of each row.
    """
    order = np.lexsort((paths["offset"], paths["module"]))
    ordered = paths[order]
    new = np.ones(len(paths), bool)
    new[1:] = (ordered["module"][1:] != ordered["module"][:-1]) | (ordered["offset"][1:] != ordered["offset"][:-1])
    number = np.empty(len(paths), np.int64)
    number[order] = np.cumsum(new) - 1
    return order[new], number


def shortened(paths: np.ndarray) -> np.ndarray:
    """Return a mask of the paths (PATH) with missing outer callers, because unwinding all callers took too long."""
    outermost = np.where(paths["parent"] > 0, paths["parent"], np.arange(len(paths)))
    while (outermost[outermost] != outermost).any():
        outermost = outermost[outermost]
    return ((paths["module"] == 0) & (paths["offset"] == PATH_SHORT))[outermost]


def _modules(rows: np.ndarray) -> np.ndarray:
    rows = rows.astype(MODULE)
    for column in ("base", "begin", "end"):
        rows[column] = 0
    return rows


def _identity(row: np.void) -> tuple[str, str]:
    return LoadedModule(text_of(row["path"]), text_of(row["build_id"])).identity


def _merged_rows(tables: Sequence[np.ndarray], dtype: np.dtype, identity) -> tuple[np.ndarray, list[np.ndarray]]:
    """Collect the rows of all tables that differ by `identity`.

    Returns:
        The collected rows behind a row of zeros, and for each table the new number of each of its rows.
    """
    rows = [np.zeros((), dtype)]
    numbers: dict[object, int] = {}
    maps: list[np.ndarray] = []
    seen: dict[bytes, np.ndarray] = {}  # most ranks have the same tables
    for table in tables:
        key = table.tobytes()
        if key not in seen:
            numbered = np.zeros(max(len(table), 1), np.uint32)
            for i, row in enumerate(table[1:], 1):
                number = numbers.setdefault(identity(row), len(rows))
                if number == len(rows):
                    rows.append(row)
                numbered[i] = number
            seen[key] = numbered
        maps.append(seen[key])
    return np.array(rows, dtype), maps


def _renumbered(table: PathTables, modules: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Return `paths` with references to the merged modules and functions; invalid references become PATH_LOST."""
    paths = table.paths.astype(PATH) if len(table.paths) else np.zeros(1, PATH)
    in_function = paths["module"] & PATH_IN_FUNCTION != 0
    row = (paths["module"] & (PATH_IN_FUNCTION - 1)).astype(np.int64)
    for chosen, numbers, bit in ((in_function, functions, PATH_IN_FUNCTION), (~in_function, modules, 0)):
        there = row < len(numbers)
        found = np.where(there, numbers[np.where(there, row, 0)], 0)
        paths["module"][chosen] = np.where(found > 0, found | bit, 0)[chosen]
    ends = (row > 0) | in_function | ~np.isin(paths["offset"], (PATH_CUT, PATH_SHORT))
    paths["offset"][(paths["module"] == 0) & ends] = PATH_LOST
    paths["parent"][paths["parent"] >= np.arange(len(paths))] = 0
    paths[0] = 0
    return paths


def chains_of(paths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge equal chains of callers in one table.

    Args:
        paths: Rows of PATH.

    Returns:
        Each distinct chain once (row 0 stands for nothing), and the new row of each given row.
    """
    return _merged_chains([paths])


def _merged_chains(parts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Merge equal chains of several tables.

    Returns:
        Each distinct chain once, outer callers first, and the new row of each row of the concatenated parts.
    """
    begin = np.cumsum([0, *(len(part) for part in parts)])
    rows = np.concatenate([np.empty(0, PATH), *parts])
    up = rows["parent"] + np.repeat(begin[:-1], np.diff(begin))  # an outermost row refers to row 0 of its part
    sites, site = numbered_sites(rows)
    depth = depths(up)
    by_depth = np.argsort(depth, kind="stable")
    merged, went, count = [np.zeros(1, PATH)], np.zeros(len(rows), np.int64), 1
    for level in np.split(by_depth, np.cumsum(np.bincount(depth))[:-1])[1:] if len(rows) else []:
        keys, number = np.unique(went[up[level]] << 32 | site[level], return_inverse=True)
        found = rows[sites[keys & 0xFFFFFFFF]]
        found["parent"] = keys >> 32
        merged.append(found)
        went[level] = count + number
        count += len(keys)
    return np.concatenate(merged), went


def depths(up: np.ndarray) -> np.ndarray:
    """Return the depth of each row: the number of steps to a row that is its own parent.

    `up` is the parent of each row. Every row that is not its own parent comes after its parent.
    """
    depth, above = (up != np.arange(len(up))).astype(np.int64), up
    while (depth[above] > 0).any():
        depth, above = depth + depth[above], above[above]
    return depth
