"""Models of the parts of a program in one file, which `analyze fit` of runs writes and `analyze balance` reads."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.models.model import Model
from analyzer.models.model_file import model_of_data, model_to_data, names_format

FORMAT, VERSION = "tracelib-parts", 1


@dataclass(frozen=True)
class PartModel:
    """Model of a part of a program: its mean time on a rank in s."""

    kind: str  # kind of time as in tables of runs: "call", "burst", "rest"
    name: str
    model: Model


@dataclass(frozen=True)
class PartModels:
    """Models of the parts of a program. The sum of the parts is the time of a run.

    Attributes:
        ranks: Number of ranks of all runs. 0: the runs have different numbers.
    """

    parts: tuple[PartModel, ...]
    ranks: int


def parts_text(found: PartModels) -> bytes:
    """Return the content of a file with the models of parts."""
    rows = [{"kind": part.kind, "name": part.name, "model": model_to_data(part.model)} for part in found.parts]
    data = {"format": FORMAT, "version": VERSION, "ranks": found.ranks, "parts": rows}
    return (json.dumps(data, indent=1) + "\n").encode()


def is_parts(path: str | os.PathLike[str]) -> bool:
    """Check whether a file looks like models of parts, by its first 200 bytes."""
    return names_format(path, FORMAT)


def read_parts(path: str | os.PathLike[str]) -> PartModels:
    """Read the models of parts from a file.

    Raises:
        TracelibError: The file cannot be read, or has no models of parts.
    """
    try:
        data = json.loads(Path(path).read_bytes())
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise ValueError
        parts = [_part(row, path) for row in data["parts"]]
        return PartModels(tuple(parts), int(data["ranks"]))
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TracelibError(
            f"{path} has no models of parts", "analyze fit RUN... -o NAME.parts.json writes them"
        ) from error


def _part(row: dict, path: str | os.PathLike[str]) -> PartModel:
    return PartModel(str(row["kind"]), str(row["name"]), model_of_data(row["model"], path))
