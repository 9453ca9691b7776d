"""The rank files of a run, and the run.h5 that links them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from tracelib.errors import TracelibError
from tracelib.run_command import rank_folder
from tracelib.unfinished import links_name, publish_rank_files

RANK_FILE = re.compile(r"\d{6,}\.h5")
EXPECTED = "give run.h5, the folder run.ranks, or a file in it"


@dataclass(frozen=True)
class RankFiles:
    """Rank files in order of rank; `run` is where run.h5 is or should be, None if only one rank file was given."""

    folder: Path
    paths: list[Path]
    run: Path | None


def find_rank_files(name: str) -> RankFiles:
    """Find the rank files that a name stands for. Files of killed ranks that lack only their final names get them.

    Args:
        name: run.h5 (which need not exist), the folder of its rank files, or one rank file.

    Raises:
        TracelibError: There is no such folder, or it has no rank files.
    """
    path = Path(name)
    if path.is_file():
        folder = _linked_folder(path)
        if folder is None:
            return RankFiles(path.parent, [path], None)
        run: Path | None = path
    else:
        folder = path if path.is_dir() else rank_folder(path)
        run = folder.with_suffix(".h5") if folder.suffix == ".ranks" else None
    if not folder.is_dir():
        raise TracelibError(f"{name}: there is no folder {folder} with rank files", EXPECTED)
    publish_rank_files(folder)
    paths = sorted((p for p in folder.iterdir() if RANK_FILE.fullmatch(p.name)), key=lambda p: int(p.stem))
    if not paths:
        raise TracelibError(f"{folder}: no rank files in this folder", EXPECTED)
    return RankFiles(folder, paths, run)


def _linked_folder(path: Path) -> Path | None:
    """Return the folder of the rank files that a run.h5 links; None for a rank file."""
    try:
        with h5py.File(path, "r", locking=False) as file:
            if "calls" in file:
                return None
            link = file.get("ranks/000000", getlink=True)
    except (OSError, KeyError, RuntimeError, ValueError, TypeError) as error:  # h5py's, of a damaged file
        raise TracelibError(f"{path}: cannot be read ({' '.join(str(error).split())})", EXPECTED) from error
    if not isinstance(link, h5py.ExternalLink):
        raise TracelibError(f"{path}: not a run of this tool", EXPECTED)
    return path.parent / Path(link.filename).parent


def write_links(run: Path, folder: Path, version: int, size: int, created_realtime_ns: int) -> None:
    """Write run.h5 as rank 0 would have, whole or not at all. Raises TracelibError if it cannot be written."""
    temporary = links_name(run)
    try:
        with h5py.File(temporary, "w") as file:
            file.attrs["schema_version"] = np.uint64(version)
            file.attrs["size"] = np.uint64(size)
            file.attrs["created_realtime_ns"] = np.uint64(created_realtime_ns)
            ranks = file.create_group("ranks")
            for rank in range(size):
                ranks[f"{rank:06d}"] = h5py.ExternalLink(f"{folder.name}/{rank:06d}.h5", "/")
        temporary.replace(run)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        hint = f"{folder} can be analyzed, too"
        raise TracelibError(f"cannot write {run}: {error.strerror or error}", hint) from error
