"""Matching of a run's messages, made at its first use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analyzer.parallel import Team
from analyzer.recording.matching.ghosts import Ghosts
from analyzer.recording.matching.leftovers import PathsAt, Reach
from analyzer.recording.matching.messages import Matching
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.run.cuts import FEW_RANKS, RECORDS, Cuts, Lanes
from analyzer.recording.thread_records.stored import StoredThreads

RECORDS_A_RANK = 256
"""Number of calls for each rank in a window in which messages are matched, approximately."""


class Matched:
    """Matching that is made when first asked for. All members of a team must ask for it at the same time."""

    def __init__(
        self, files: Sequence[RankFile], lanes: Lanes, cuts: Cuts, first_cpu: np.ndarray, team: Team, folder: Path,
        reach: Reach, share: range, stored: StoredThreads, paths_at: PathsAt,
    ) -> None:  # fmt: skip
        self._files, self._lanes, self._cuts, self._first_cpu = files, lanes, cuts, first_cpu
        self._team, self._folder, self._reach, self._share, self._stored = team, folder, reach, share, stored
        self._paths_at = paths_at
        self._made: Matching | None = None

    def get(self) -> Matching:
        if self._made is None:
            skipped = (file for file in self._files if len(file.skipped))
            ghosts = {file.rank: Ghosts(file, self._lanes[file.rank][0]) for file in skipped}
            cuts = self._cuts.windows(RECORDS_A_RANK * max(len(self._lanes), FEW_RANKS))
            self._made = Matching(
                self._lanes, ghosts, self.windows(), cuts,
                self._first_cpu, self._team, self._folder, self._reach, self._share, self._stored,
                self._paths_at,
            )  # fmt: skip
        return self._made

    def windows(self) -> np.ndarray:
        """Return the bounds of the windows in which messages are read."""
        return self._cuts.windows(RECORDS, least=0)

    def close(self) -> None:
        if self._made is not None:
            self._made.close()
