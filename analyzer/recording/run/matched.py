"""Cache of the matching of a run's messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import RLock

import numpy as np

from analyzer.parallel import Team
from analyzer.recording.matching.ghosts import Ghosts
from analyzer.recording.matching.leftovers import PathsAt, Reach
from analyzer.recording.matching.messages import Matching
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.run.cuts import Cuts, Lanes
from analyzer.recording.run.thread_readers import ThreadReaders
from analyzer.trace.read_sizes import ReadSizes


class Matched:
    """Cache of the matching of a run. All members of a team must call `get` at the same time.

    Python threads may share it.
    """

    def __init__(
        self, files: Sequence[RankFile], lanes: Lanes, cuts: Cuts, first_cpu: np.ndarray, team: Team, folder: Path,
        reach: Reach, share: range, readers: ThreadReaders, sizes: ReadSizes,
    ) -> None:  # fmt: skip
        self._files, self._lanes, self._cuts, self._first_cpu = files, lanes, cuts, first_cpu
        self._team, self._folder, self._reach, self._share, self._readers = team, folder, reach, share, readers
        self._sizes = sizes
        self._made: Matching | None = None
        self._lock = RLock()

    def get(self, paths_at: PathsAt) -> Matching:
        """Return the matching. `paths_at` returns the call paths of sends and receives without other side."""
        with self._lock:
            if self._made is None:
                self._made = self._match(paths_at)
            return self._made

    def _match(self, paths_at: PathsAt) -> Matching:
        skipped = (file for file in self._files if len(file.skipped))
        ghosts = {file.rank: Ghosts(file, self._lanes[file.rank][0]) for file in skipped}
        cuts = self._cuts.windows(self._sizes.matched_calls * max(len(self._lanes), self._sizes.few_ranks))
        return Matching(
            self._lanes, ghosts, self.windows(), cuts, self._first_cpu, self._team, self._folder, self._reach,
            self._share, self._readers.stored, paths_at,
        )  # fmt: skip

    def windows(self) -> np.ndarray:
        """Return the bounds of the windows in which messages are read, ns."""
        return self._cuts.windows(self._sizes.message_calls, least=0)

    def close(self) -> None:
        """Close the temporary files of messages."""
        if self._made is not None:
            self._made.close()
