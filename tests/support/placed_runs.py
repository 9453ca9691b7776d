"""Runs by hand whose calls have places: functions of an interpreted program, whose names are in the file."""

from __future__ import annotations

from tracelib.schema import PATH_IN_FUNCTION

Chain = tuple[tuple[str, int], ...]
"""Functions and lines from the outside in, such as (("main", 40), ("exchange", 12)): the last one calls MPI."""


def placed(content: dict, chains: list[Chain], polls: list[Chain] | None = None) -> dict:
    """A rank of `synthetic.write_run` whose calls, in their order, have these paths (and `polls` theirs). Each function
    is in a file of its name; (): not known."""
    functions, paths, numbers = [(0, 0, b"", b"")], [(0, 0, 0)], {}
    rows = {}

    def row_of(chain: Chain) -> int:
        parent = 0
        for name, line in chain:
            if name not in numbers:
                numbers[name] = len(functions)
                functions.append((1, 1, name.encode(), f"{name}.py".encode()))
            key = parent, PATH_IN_FUNCTION | numbers[name], line
            if key not in rows:
                rows[key] = len(paths)
                paths.append(key)
            parent = rows[key]
        return parent

    found = {"call_paths": [row_of(chain) for chain in chains]}
    found |= {"poll_paths": [row_of(chain) for chain in polls]} if polls is not None else {}
    return content | found | {"paths": paths, "functions": functions}
