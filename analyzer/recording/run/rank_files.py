"""Search for the rank files of a run, and problems for those that are missing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5l

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.recording.rank_file.file import RankFile, close_file, foreign, open_rank, unreadable
from analyzer.recording.rank_file.heads import Heads
from analyzer.recording.rank_file.limited import opened
from analyzer.recording.rank_file.tables import DAMAGED, whole_number
from analyzer.signal_handling import called_from_c
from analyzer.trace import Problem
from analyzer.trace.chosen import Choice
from tracelib import schema
from tracelib.schema.sound import SoundAttributes

MOST_LINKS = 65000
"""Number of ranks above which the tracer writes no links into run.h5 (csrc/generate/links.py)."""

MANY_LINKS = 1024
MOST_BYTES = 1 << 26
"""Bytes of a file below which the names of MANY_LINKS links or more are searched in the file's bytes."""

_RANK_FILE = re.compile(r"\d{6,}\.h5")

Place = tuple[str, str]
"""Path of a rank's file, and its group in the file."""


@dataclass(frozen=True)
class Findings:
    """Readable rank files of a run in order of rank, and a Problem for each other file."""

    path: str
    size: int
    files: list[RankFile]
    problems: list[Problem]
    share: range  # ranks whose files this process opened: each member of a team has its own, in order of members
    chosen: tuple[int, ...] | None = None  # ranks that were to be read; None: all
    open_other: Callable[[int], RankFile] | None = None  # opens the file of a rank that was not chosen


def find_ranks(path: str, choice: Choice | None = None, team: Team | None = None) -> Findings:
    """Open run.h5, the folder of its rank files, or one of these files.

    Args:
        path: The file or folder.
        choice: Open only the files of these ranks. None: all.
        team: Processes that share the files by their sizes, and exchange the small parts. All members must call this.

    Raises:
        TracelibError: It is nothing of that kind, no rank can be read, or a chosen rank is not in the run.
    """
    place, team = Path(path), team or Team()
    if not place.exists():
        raise TracelibError(f"{path}: no such file", "the traced program prints the name of its run at the end")
    if place.is_dir():
        return _folder(place, choice, team)
    ranks = _ranks(place)
    if ranks is None:
        return _single(place, choice, team)
    if not ranks:
        raise TracelibError(f"{path}: the run has no ranks", "trace the program again")
    close_file(str(place))  # forget what is known of a packed run that this file has replaced
    return _gather(str(place), ranks, choice, team)


def _folder(folder: Path, choice: Choice | None, team: Team) -> Findings:
    paths = sorted(p for p in folder.iterdir() if _RANK_FILE.fullmatch(p.name))
    if not paths:
        raise TracelibError(f"{folder}: no rank files in this folder", "give run.h5 or the folder run.ranks")
    files = {int(p.stem): p for p in paths}
    size = max(files) + 1
    for candidate in paths:
        try:
            size = max(size, open_rank(candidate).size)
            break
        except TracelibError:
            continue
    names = (files.get(rank, folder / f"{rank:06d}.h5") for rank in range(size))
    return _gather(str(folder), [(str(name), "/") for name in names], choice, team)


def _single(path: Path, choice: Choice | None, team: Team) -> Findings:
    file = open_rank(path)
    if choice and file.rank not in choice.of(file.size, str(path)):
        file.close()
        raise TracelibError(f"--ranks {choice.text}: {path} is the file of rank {file.rank}", "give run.h5", 2)
    problems = [] if file.size == 1 else [Problem(-1, f"only rank {file.rank} of {file.size} was given")]
    bytes_ = [int(rank == file.rank) for rank in range(file.size)]
    return Findings(str(path), file.size, [file], problems, team.share(file.size, bytes_))


def _ranks(path: Path) -> list[Place] | None:
    """Return where run.h5 has its ranks: in files that it names, or packed in itself.

    None: it is no run.h5 but may be a rank file.
    """
    if path.stat().st_size == 0:
        raise TracelibError(
            f"{path}: is empty", "the run ended before anything was written; analyze its folder .ranks, if there is one"
        )
    try:
        with opened(path) as file:
            group = file.get("ranks")
            if not isinstance(group, h5py.Group):
                if "calls" in file:
                    return None
                raise TracelibError(f"{path}: not a trace of this tool", "give run.h5, the folder run.ranks, or a .prv")
            given = SoundAttributes(file)
            _check_version(path, given)
            return _linked(path, group, whole_number(given, "size"))
    except DAMAGED as error:
        raise unreadable(path, error) from error


def _check_version(path: Path, given: SoundAttributes) -> None:
    version = whole_number(given, "schema_version") if "schema_version" in given else 0
    if not 1 <= version <= schema.VERSION:
        raise TracelibError(
            f"{path}: it has file format {version}, and this program reads 1 to {schema.VERSION}", "update tracelib"
        )


def _linked(path: Path, group: h5py.Group, size: int) -> list[Place]:
    """Return where run.h5 says that each rank is; for a rank that it does not name, where it would be.

    Files are beside run.h5 or, where run.h5 is a symbolic link, beside the file that it points to.
    """
    links, folder = group.id.links, str(path.parent)
    there = str(path.resolve().parent) if path.is_symlink() else None
    kinds: dict[bytes, int] = {}
    links.iterate(called_from_c(lambda name, info: kinds.__setitem__(name, info.type)), info=True)
    if size > len(kinds) and len(kinds) < MOST_LINKS:
        raise ValueError(f"it names {len(kinds)} ranks of {size}")
    named = _names(path, links, [name for name, kind in kinds.items() if kind == h5l.TYPE_EXTERNAL])
    places = []
    for rank in range(size):
        name = f"{rank:06d}"
        if kinds.get(name.encode()) == h5l.TYPE_HARD:
            places.append((str(path), f"ranks/{name}"))
            continue
        file = named.get(name.encode(), f"{path.stem}.ranks/{name}.h5")
        place = _beside(folder, file)
        places.append((_beside(there, file) if there and not Path(place).exists() else place, "/"))
    return places


def _names(path: Path, links: Any, names: list[bytes]) -> dict[bytes, str]:
    """Return the files that external links name.

    HDF5 searches all links for each link that it is asked for. So the names of many ranks are searched in the file's
    bytes: FOLDER/NAME.h5 for each link NAME, with the FOLDER of the first link.
    """
    if not names:
        return {}
    first = links.get_val(names[0])[0]
    folder, slash, _ = first.rpartition(b"/")
    written: set[bytes] = set()
    if len(names) >= MANY_LINKS and path.stat().st_size < MOST_BYTES:
        written = set(re.findall(re.escape(folder + slash) + rb"(\d+)\.h5\0", path.read_bytes()))
    found = {name: folder + slash + name + b".h5" if name in written else links.get_val(name)[0] for name in names}
    return {name: os.fsdecode(file) for name, file in found.items()}


def _beside(folder: str, file: str) -> str:
    """Join folder and file. Path objects for thousands of files would take longer than their links."""
    return file if file.startswith("/") else f"{folder}/{file}"


def _gather(path: str, places: list[Place], choice: Choice | None, team: Team) -> Findings:
    size = len(places)
    chosen = choice.of(size, path) if choice else None
    wanted = range(size) if chosen is None else chosen
    share = _share(places, wanted, team)
    files: list[RankFile] = []
    problems: list[Problem] = []
    first: TracelibError | None = None

    def opened(rank: int) -> RankFile:
        place, group = places[rank]
        file = open_rank(place, group)
        if (file.rank, file.size) != (rank, size):
            raise foreign(place, f"it is rank {file.rank} of {file.size}, not {rank} of {size}")
        return file

    for rank in (rank for rank in wanted if rank in share):
        try:
            files.append(opened(rank))
        except TracelibError as error:
            first = first or error
            problems.append(Problem(rank, str(error)))
    if team.size > 1:
        files, problems, first = _of_all(places, files, problems, first, team)
    if first is not None and not files:
        raise TracelibError(f"{path}: no rank can be read; {first}", first.hint)
    if chosen is None or len(chosen) == size:
        return Findings(path, size, files, problems, share)
    return Findings(path, size, files, problems, share, chosen, opened)


def _share(places: Sequence[Place], wanted: Sequence[int], team: Team) -> range:
    """Return the ranks whose files this member of a team opens: about as many bytes as others.

    Of packed runs, all members open the same number of ranks.
    """
    if team.size == 1:
        return range(len(places))
    looked = set(wanted)
    mine = [_bytes(*places[rank]) if rank in looked else 0 for rank in team.share(len(places))]
    return team.share(len(places), [bytes_ for part in team.allgather(mine) for bytes_ in part])


def _bytes(place: str, group: str) -> int:
    try:  # a Path object for each file would take longer
        return os.stat(place).st_size if group == "/" else 1  # noqa: PTH116
    except OSError:
        return 0


def _of_all(
    places: Sequence[Place], files: list[RankFile], problems: list[Problem], first: TracelibError | None, team: Team
) -> tuple[list[RankFile], list[Problem], TracelibError | None]:
    """Exchange what the members of a team opened. Returns files, problems and the first error, in order of rank."""
    parts = team.allgather((Heads.of(files), problems, first))
    by_member = [files if member == team.rank else heads.files(places) for member, (heads, _, _) in enumerate(parts)]
    of_all = [problem for _, part, _ in parts for problem in part]
    return [file for part in by_member for file in part], of_all, next((e for *_, e in parts if e), None)


def runs_beside(path: Path) -> list[Path]:
    """List the other runs in the folder of a run (run.h5, or run.ranks), by name."""
    own = path.absolute().with_suffix(".h5")
    return sorted(other for other in own.parent.glob("*.h5") if other != own and _is_run(other))


def _is_run(path: Path) -> bool:
    try:
        return bool(_ranks(path))
    except TracelibError:
        return False


def strangers(
    ranks: np.ndarray, begin: np.ndarray, end: np.ndarray, node_of: np.ndarray, stopped: np.ndarray
) -> list[Problem]:
    """Report ranks that did not live when most others of their node did: all processes of a run live at the same time.

    Args:
        ranks: Ranks that could be read.
        begin: First time of each of these ranks (ns).
        end: Last time of each of these ranks (ns).
        node_of: Node of every rank of the run.
        stopped: bool by read rank: it recorded less than its life (full disk, kill), so its end is not known.
    """
    found = []
    end = np.where(stopped, max(begin.max(initial=0), end.max(initial=0)), end)
    order = np.argsort(node_of[ranks], kind="stable")
    for here in np.split(order, np.flatnonzero(np.diff(node_of[ranks][order])) + 1):
        before = np.searchsorted(np.sort(end[here]), begin[here], "left")
        after = len(here) - np.searchsorted(np.sort(begin[here]), end[here], "right")
        apart = 2 * (before + after) >= len(here)
        text = "did not run at the same time as the other ranks: its file may be of another run"
        found += [Problem(rank, text) for rank in ranks[here][apart].tolist()]
    return found
