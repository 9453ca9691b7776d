"""Names of source files: the last part, and as much of the folders as tells two files apart."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection


def short_files(files: Collection[str]) -> dict[str, str]:
    """The short name of each: `exchange.c`, or `left/exchange.c` where there is `right/exchange.c` too."""
    parts = {file: tuple(part for part in posixpath.normpath(file).split("/") if part) for file in files if file}
    short = {file: file for file in files}
    members, length = list(parts), 1
    while members:
        by_name: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for file in members:
            by_name[parts[file][-length:]].append(file)
        members, length = [], length + 1
        for name, same in by_name.items():
            if len({parts[file] for file in same}) == 1:
                short.update(dict.fromkeys(same, "/".join(name)))
            else:
                members += same
    return short
