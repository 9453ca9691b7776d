"""What files are called in reports: by default all runs are run.h5, each in its own folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def file_names(files: Iterable[str]) -> dict[str, str]:
    """The name of each file, with as many of its folders as it takes to tell them all apart."""
    parts = {file: Path(file).parts for file in files}
    names = {file: Path(file).name for file in parts}
    for depth in range(2, max(map(len, parts.values()), default=0) + 1):
        if len(set(names.values())) == len(names):
            break
        names = {file: str(Path(*of[-depth:])) for file, of in parts.items()}
    return names
