"""Models of the parts of a program as one file: what `analyze fit` of runs finds, for `analyze balance`."""

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
    """A part of a program: its mean time on a rank, s."""

    kind: str  # as in tables of runs: "call", "burst", "rest"
    name: str
    model: Model


@dataclass(frozen=True)
class PartModels:
    """Parts whose sum is the time of a run. ranks: of all runs, where these had as many; 0: they differ."""

    parts: tuple[PartModel, ...]
    ranks: int


def parts_text(found: PartModels) -> bytes:
    """Return the file."""
    rows = [{"kind": part.kind, "name": part.name, "model": model_to_data(part.model)} for part in found.parts]
    data = {"format": FORMAT, "version": VERSION, "ranks": found.ranks, "parts": rows}
    return (json.dumps(data, indent=1) + "\n").encode()


def is_parts(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file looks like models of parts."""
    return names_format(path, FORMAT)


def read_parts(path: str | os.PathLike[str]) -> PartModels:
    """Read the models of parts. Raises TracelibError where the file has none."""
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
