"""Tables of paths written down as chains, and read back as chains."""

import numpy as np

from analyzer.places.paths import PathTables
from tracelib.schema import FUNCTION, MODULE, PATH, PATH_IN_FUNCTION


def path_tables(chains, modules=(), functions=(), base=0):
    """Tables of some chains, each from the outside in, of ("module" or ("function", "file"), offset) or of (None,
    PATH_CUT or PATH_LOST). `modules`: (path, build_id), by their order; `functions`: (name, file)."""
    modules, functions = list(modules), list(functions)
    rows, numbers = [(0, 0, 0)], {}
    for chain in chains:
        parent = 0
        for where, offset in chain:
            if where is None:
                number = 0
            elif where in functions:
                number = PATH_IN_FUNCTION | functions.index(where) + 1
            else:
                number = [path for path, _ in modules].index(where) + 1
            key = (parent, number, offset)
            if key not in numbers:
                numbers[key] = len(rows)
                rows.append(key)
            parent = numbers[key]
    stored = np.zeros(len(modules) + 1, MODULE)
    for row, (path, build_id) in zip(stored[1:], modules, strict=True):
        row["path"], row["build_id"], row["base"] = path.encode(), build_id.encode(), base
    named = np.zeros(len(functions) + 1, FUNCTION)
    for row, (name, file) in zip(named[1:], functions, strict=True):
        row["name"], row["file"], row["kind"] = name.encode(), file.encode(), 1
    return PathTables(np.array(rows, PATH), stored, named)


def chain_of(tables, path):
    """The chain of a row, from the outside in, as `path_tables` takes it."""
    chain = []
    while path:
        row = tables.paths[path]
        chain.insert(0, (_where(tables, int(row["module"])), int(row["offset"])))
        path = row["parent"]
    return tuple(chain)


def _where(tables, module):
    if module & PATH_IN_FUNCTION:
        row = tables.functions[module & (PATH_IN_FUNCTION - 1)]
        return row["name"].decode(), row["file"].decode()
    return tables.modules["path"][module].decode() if module else None
