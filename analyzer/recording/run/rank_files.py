"""Finds the rank files of a run, and reports files that are missing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.recording.rank_file.file import RankFile, close_file, foreign, open_rank
from analyzer.recording.rank_file.heads import Heads
from analyzer.recording.run.links import Place, ranks_named_in
from analyzer.trace import Problem
from analyzer.trace.chosen import Choice
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes

_RANK_FILE = re.compile(r"\d{6,}\.h5")


@dataclass(frozen=True)
class RunFiles:
    """Rank files of a run that can be read, in order of rank, and a Problem for each other file."""

    path: str
    size: int
    files: tuple[RankFile, ...]
    problems: tuple[Problem, ...]
    share: range  # ranks whose files this member of a team opened; shares are in order of members
    chosen: tuple[int, ...] | None = None  # chosen ranks; None: all
    open_other: Callable[[int], RankFile] | None = None  # opens the file of a rank that was not chosen


def find_ranks(
    path: str, choice: Choice | None = None, team: Team | None = None, sizes: ReadSizes = DEFAULT_SIZES
) -> RunFiles:
    """Open the files of a run.

    Args:
        path: run.h5, the folder of its rank files, or one rank file.
        choice: Open only the files of these ranks. None: all.
        team: Processes that share the files by size, and exchange their small parts. All members must call this.
        sizes: Amounts in which the files are read.

    Raises:
        TracelibError: There is no such file, no rank can be read, or the run lacks a chosen rank.
    """
    place, team = Path(path), team or Team()
    if not place.exists():
        raise TracelibError(f"{path}: no such file", "the traced program prints the name of its run at the end")
    if place.is_dir():
        return _folder(place, choice, team, sizes)
    ranks = ranks_named_in(place, sizes)
    if ranks is None:
        return _single(place, choice, team, sizes)
    if not ranks:
        raise TracelibError(f"{path}: the run has no ranks", "trace the program again")
    close_file(str(place))  # forget what is known of a packed run that this file has replaced
    return _gather(str(place), ranks, choice, team, sizes)


def _folder(folder: Path, choice: Choice | None, team: Team, sizes: ReadSizes) -> RunFiles:
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
    return _gather(str(folder), [(str(name), "/") for name in names], choice, team, sizes)


def _single(path: Path, choice: Choice | None, team: Team, sizes: ReadSizes) -> RunFiles:
    file = open_rank(path, "/", sizes)
    if choice and file.rank not in choice.of(file.size, str(path)):
        file.close()
        raise TracelibError(f"--ranks {choice.text}: {path} is the file of rank {file.rank}", "give run.h5", 2)
    problems = () if file.size == 1 else (Problem(-1, f"only rank {file.rank} of {file.size} was given"),)
    bytes_ = [int(rank == file.rank) for rank in range(file.size)]
    return RunFiles(str(path), file.size, (file,), problems, team.share(file.size, bytes_))


def _gather(path: str, places: list[Place], choice: Choice | None, team: Team, sizes: ReadSizes) -> RunFiles:
    size = len(places)
    chosen = choice.of(size, path) if choice else None
    wanted = range(size) if chosen is None else chosen
    share = _share(places, wanted, team)
    files: list[RankFile] = []
    problems: list[Problem] = []
    first: TracelibError | None = None

    def opened(rank: int) -> RankFile:
        place, group = places[rank]
        file = open_rank(place, group, sizes)
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
        files, problems, first = _of_all(places, files, problems, first, team, sizes)
    if first is not None and not files:
        raise TracelibError(f"{path}: no rank can be read; {first}", first.hint)
    found = RunFiles(path, size, tuple(files), tuple(problems), share)
    if chosen is None or len(chosen) == size:
        return found
    return replace(found, chosen=chosen, open_other=opened)


def _share(places: Sequence[Place], wanted: Sequence[int], team: Team) -> range:
    """Return the ranks whose files this member of a team opens. Each member opens about the same number of bytes.

    In packed runs each member opens the same number of ranks.
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
    places: Sequence[Place], files: list[RankFile], problems: list[Problem], first: TracelibError | None, team: Team,
    sizes: ReadSizes,
) -> tuple[list[RankFile], list[Problem], TracelibError | None]:  # fmt: skip
    """Exchange the files that the members of a team opened.

    Return files, problems and the first error, in order of rank.
    """
    parts = team.allgather((Heads.of(files), problems, first))
    by_member = [
        files if member == team.rank else heads.files(places, sizes) for member, (heads, _, _) in enumerate(parts)
    ]
    of_all = [problem for _, part, _ in parts for problem in part]
    return [file for part in by_member for file in part], of_all, next((e for *_, e in parts if e), None)


def runs_beside(path: Path) -> list[Path]:
    """Return the other runs in the folder of a run (run.h5, or run.ranks), by name."""
    own = path.absolute().with_suffix(".h5")
    return sorted(other for other in own.parent.glob("*.h5") if other != own and _is_run(other))


def _is_run(path: Path) -> bool:
    try:
        return bool(ranks_named_in(path))
    except TracelibError:
        return False
