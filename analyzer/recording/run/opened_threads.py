"""Threads of all ranks of a run, with the facts about them that all members of a team need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from analyzer.parallel import Team
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.spool import OPEN_ENDED, Fate
from analyzer.recording.run.cuts import Lanes
from analyzer.recording.run.ends import End, lasted_until
from analyzer.recording.run.rank_threads import RankReport, RankThreads, ThreadsLater
from analyzer.recording.run.raw_ranks import RawRanks
from analyzer.trace import Problem, UnfinishedCall
from tracelib.schema import ProcessState


@dataclass(frozen=True, kw_only=True)
class OpenedThreads:
    """Threads of each rank, how their processes ended, and the problems of their rows."""

    lanes: Lanes  # by rank; in a team they are made at the first use
    facts: np.ndarray  # OPENED: one row for each rank that could be read
    ends: tuple[End, ...]  # in the order of `facts`
    unfinished: np.ndarray  # bool by rank: True if it did not end in order
    stopped: np.ndarray  # bool in the order of `facts`: the rank may have lived longer than it recorded
    died_inside: tuple[UnfinishedCall, ...]
    in_buffers: bool  # True if calls of dead processes are only in their buffers
    parameters: frozenset[int]  # parameters of regions that occur
    problems: tuple[Problem, ...]

    def ranks(self, fact: str) -> frozenset[int]:
        """Return the ranks for which a fact (a bool column of OPENED) is true."""
        return frozenset(self.facts["rank"][self.facts[fact]].tolist())

    def by_rank(self, fact: str) -> dict[int, int]:
        """Return the values of a fact (a column of OPENED) by rank."""
        return dict(zip(self.facts["rank"].tolist(), self.facts[fact].tolist(), strict=True))


def open_threads(
    raw: RawRanks, threads: RankThreads, mine: Sequence[int], size: int, team: Team, doubted: Set[int]
) -> OpenedThreads:
    """Open the threads of all ranks.

    Args:
        raw: Tables of the ranks.
        threads: Cache in which the threads are made.
        mine: Ranks that this member of the team opens. It gets the facts about all others.
        size: Number of ranks of the run.
        team: Processes that open the run together; all must call this.
        doubted: Ranks that have problems, so that each member must look for faults itself.
    """
    parts = team.gather(lambda: threads.open(mine, shared=team.size > 1))
    facts = np.concatenate([rows for rows, _ in parts])
    reports = {rank: report for _, of_part in parts for rank, report in of_part.items()}
    last_sign = int(facts["stop"].max(initial=0))
    threads.end_open_calls(last_sign)
    facts["stop"][facts["open"]] = last_sign
    died_inside = _died_inside(reports, last_sign)
    problems = lasted_until(died_inside)
    problems += [problem for report in reports.values() for problem in report.problems]
    problems += [problem for report in reports.values() for problem in report.of_regions]
    present = facts["rank"].tolist()
    raw.trust(set(present) - doubted - {problem.rank for problem in problems})
    open_ended = [rank for rank, report in reports.items() if report.end.fate in OPEN_ENDED]
    unfinished = np.isin(np.arange(size), open_ended)
    alone = team.size == 1
    return OpenedThreads(
        lanes={rank: threads.lanes(rank) for rank in mine} if alone else ThreadsLater(raw.files, threads.lanes),
        facts=facts,
        ends=tuple(reports[rank].end if rank in reports else End(rank, Fate.ENDED, 0) for rank in present),
        unfinished=unfinished,
        stopped=np.isin(facts["rank"], [*_full(raw.files.values()), *open_ended]),
        died_inside=died_inside,
        in_buffers=any(report.in_buffer for report in reports.values()),
        parameters=frozenset[int]().union(*{report.parameters for report in reports.values()}),
        problems=tuple(problems),
    )


def _died_inside(reports: dict[int, RankReport], last_sign: int) -> tuple[UnfinishedCall, ...]:
    """Return the calls that ranks died in. Calls whose end is not known last until `last_sign` (ns)."""
    calls = (call for rank in sorted(reports) for call in reports[rank].unfinished)
    return tuple(call if call.seen else replace(call, until_ns=last_sign) for call in calls)


def _full(files: Iterable[RankFile]) -> list[int]:
    """Return the ranks whose disk was full."""
    return [file.rank for file in files if file.attributes["state"] == ProcessState.FULL]
