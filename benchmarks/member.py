"""One process of `mpirun analyze`, which notes how much processor time it takes between two meetings of all processes:
python -m benchmarks.member FOLDER WORDS... writes FOLDER/RANK.json. Alone it notes all that it takes.

The time in which a process waits for others is not its own. So the sum of the longest stretches is what the command
would take if each process had a processor of its own, whatever else the machine does meanwhile.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from analyzer import parallel
from analyzer.cli import main
from analyzer.commands import group


class Watched(parallel.MpiTeam):
    """A member that notes its own time (s) between meetings."""

    def __init__(self) -> None:
        super().__init__()
        self.stretches: list[float] = []
        self._since = 0.0  # the start of the process

    def meet(self) -> None:
        self.stretches.append(time.process_time() - self._since)
        super().meet()
        self._since = time.process_time()


def run(folder: Path, words: list[str]) -> int:
    """Run the command line. Return its exit code."""
    members: list[Any] = []

    def watched() -> parallel.Team:
        members.append(Watched() if parallel.is_started_by_mpi() else parallel.Team())
        return members[-1]

    group.team = watched  # type: ignore[assignment]
    code = main(words)
    (team,) = members
    stretches = [time.process_time()]
    if isinstance(team, Watched):
        team.barrier()
        stretches = team.stretches
    (folder / f"{team.rank}.json").write_text(json.dumps(stretches))
    return code


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[2:]))
