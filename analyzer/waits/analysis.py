"""The analysis of waits: sums of wait states by rank, kind and place, and the costs of the delays behind them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.columns.rows import Rows
from analyzer.efficiency.cpu_use import starts_mpi
from analyzer.in_notebook import InNotebook
from analyzer.metrics.profile import Profile
from analyzer.parallel import Team
from analyzer.trace import CallPaths, Chosen, Losses, Trace
from analyzer.trace.at_places import PlaceChoice
from analyzer.waits.by_place import WaitPlaces, WaitReason, WaitTexts, reasons, wait_places
from analyzer.waits.delays import DelayCosts, ExplainedWaits, delay_costs, explain_waits
from analyzer.waits.kinds import Polled, WaitKind, length
from analyzer.waits.region_paths import RegionPaths
from analyzer.waits.segments import COMPUTING, FIRST_CALL, NO_CPU, NOT_RECORDED, OF_TRACER
from analyzer.waits.threads import UncountedWaits
from analyzer.waits.wait_states import WaitSearch, WaitStates, find_wait_states

MOST_SINGLE = 10
"""Number of single waits, the longest ones, that are listed by default."""


@dataclass(frozen=True)
class WaitPlace:
    """Sum of the waits of one kind in calls of one procedure, on one path of regions and at one place.

    All ranks are added up.
    """

    kind: WaitKind
    path: str  # "solve/exchange"; "": in no region
    procedure: str
    count: int
    time_ns: int
    overlap_ns: int  # computing between failing polls, while there was nothing to complete
    indirect_ns: float  # part of time_ns that is due to earlier waits of the threads that were waited for
    place: str = ""  # "exchange.c:212 in exchange"; empty: not known


@dataclass(frozen=True)
class WaitCause:
    """Cost of the delays of one rank in one activity.

    The rank did this activity for longer than the threads that waited for the rank.
    """

    rank: int
    path: str
    what: str  # "computing", a procedure, "waiting for a CPU", "the tracer", "not recorded"
    direct_ns: float  # ns that other threads waited directly for this rank
    indirect_ns: float  # ns that further threads waited, for the threads that waited for this rank


@dataclass(frozen=True)
class SingleWait:
    """One wait of one thread, with its cause. Times are in ns from the start of the trace."""

    kind: WaitKind
    rank: int
    thread: int
    cause_rank: int
    cause_thread: int
    begin_ns: int
    time_ns: int
    procedure: str
    path: str
    caused_ns: float  # ns of waiting of other threads that this wait caused later
    place: str = ""  # "exchange.c:212 in exchange < solve main.c:88 < main main.c:40"; empty: not known
    cause: str = ""  # the longest activity of the thread that was waited for, and its place; empty: not known
    cause_ns: int = 0  # ns of the wait in which the other thread did this activity
    lines: tuple[str, str] = ("", "")  # short texts of place and cause: "exchange.c:212", "computing smooth.c:40-61"


@dataclass(frozen=True)
class Waits(InNotebook):
    """The wait states of a run: sums by rank and kind, by place and by cause.

    Arrays are int64 of shape (ranks, kinds) in ns or numbers of waits, unless their comment gives another shape.
    """

    threads: int  # number of threads of the ranks that could be read
    runtime_ns: int
    mpi_ns: np.ndarray  # (ranks,)
    starting_ns: int  # part of mpi_ns in MPI_Init, sum over all ranks
    time_ns: np.ndarray
    count: np.ndarray
    overlap_ns: np.ndarray  # computing between failing polls while there was nothing to complete; this is no waiting
    barrier_completion_ns: np.ndarray  # (ranks,) in barriers after the first member had left
    n_to_n_completion_ns: np.ndarray
    first_sender_ns: int  # part of early reduce until the first member entered, which is what Scalasca counts
    uncounted: UncountedWaits
    places: tuple[WaitPlace, ...] = ()  # longest first
    causes: tuple[WaitCause, ...] = ()  # most expensive first
    longest: tuple[SingleWait, ...] = ()
    reasons: tuple[WaitReason, ...] = ()  # longest first; empty: places are not known
    notes: tuple[str, ...] = ()  # lines for the user: programs whose places have no good names
    place: str = ""  # only waits in calls through these places are counted; empty: all waits
    present: np.ndarray | None = None  # the ranks that could be read; None: all
    chosen: tuple[int, ...] | None = None  # the ranks that were to be read; None: all
    unfinished_ns: int = 0  # part of mpi_ns in calls other than MPI_Init from which killed ranks did not return

    @property
    def total_ns(self) -> int:
        """Return the sum of all waits in ns."""
        return int(self.time_ns.sum())

    @property
    def share(self) -> float:
        """Return the sum of all waits divided by runtime x number of threads, from 0 to 1."""
        whole = self.runtime_ns * self.threads
        return self.total_ns / whole if whole else 0.0


def analyze_waits(
    trace: Trace,
    team: Team,
    calls: Profile,
    *,
    longest: int = MOST_SINGLE,
    causes: bool = True,
    place: PlaceChoice | None = None,
) -> Waits:
    """Find the wait states of a run and, with `causes`, their places and the costs of the delays behind them.

    Collective.

    The team shares the search and the reading of calls. The first member adds up the costs.

    Args:
        trace: The trace.
        team: The processes that share the work.
        calls: The profile of the run.
        longest: Number of single waits to list, longest first.
        causes: True: also find places, causes and costs of delays.
        place: Count only waits in calls through these places; the costs of delays are then 0. None: all calls.

    Returns:
        The wait states, on all members of the team.
    """
    chosen = place.paths(trace) if place else None
    search = WaitSearch(trace, team, with_syncs=causes, used=calls.called)
    if not causes:
        return _waits(trace, calls, _sum(search, search.parts()))
    found = find_wait_states(search)
    result = _waits(trace, calls, _sum(search, (waits for _, waits in found.rows.pieces())))
    done = explain_waits(found)
    costs = delay_costs(done)
    search.close()
    if costs:
        where = wait_places(trace, done.found)
        if where and place and chosen is not None:
            done, costs, where = *_chosen(done, costs, where.where, chosen), where.chosen(chosen)
            times = _Sums.from_search(search, (waits for _, waits in done.found.rows.pieces())).times
            result = replace(result, time_ns=times[0], count=times[1], overlap_ns=times[2], place=place.text)
        result = replace(result, **_told(trace, done, costs, where, longest))
    return team.bcast(result if costs else None)


def _chosen(
    done: ExplainedWaits, costs: DelayCosts, where: Rows, chosen: np.ndarray
) -> tuple[ExplainedWaits, DelayCosts]:
    """Keep only the waits in calls from chosen paths, and set the costs of delays to 0.

    The costs of delays are known for the whole run only.

    Args:
        done: The waits.
        costs: Their costs.
        where: Place of each wait (WHERE).
        chosen: bool, one for each row of CallPaths.tables.
    """
    every = (done.found.rows, done.path, costs.indirect, costs.caused, where)
    kept = [Rows(rows.dtype) for rows in every]
    for pieces in zip(*(rows.pieces() for rows in every), strict=True):
        mine = chosen[pieces[-1][1]["path"]]
        for rows, (_, piece) in zip(kept, pieces, strict=True):
            rows.append(piece.compress(mine))
    found, path, indirect, caused, _ = kept
    done = replace(done, found=replace(done.found, rows=found), path=path)
    return done, DelayCosts(np.zeros_like(costs.by_lane), costs.activities, indirect, caused)


def _sum(search: WaitSearch, parts: Iterable[np.ndarray]) -> _Sums:
    """Add up the waits that all members of a team have found. Collective."""
    return sum(search.team.allgather(_Sums.from_search(search, parts)), _Sums.none(search.trace))


@dataclass(frozen=True)
class _Sums:
    """Sums of waits, which can be added to the sums of other members.

    `times` is int64 of shape (3, ranks, kinds): waiting in ns, number of waits, and ns of computing between failing
    polls. `completion_ns` has shape (2, ranks): ns in barriers and in N-to-N collectives after the first member had
    left.
    """

    times: np.ndarray
    completion_ns: np.ndarray
    first_sender_ns: int
    uncounted: UncountedWaits

    @classmethod
    def none(cls, trace: Trace) -> _Sums:
        return cls(
            np.zeros((3, trace.size, len(WaitKind)), np.int64), np.zeros((2, trace.size), np.int64), 0, UncountedWaits()
        )

    @classmethod
    def from_search(cls, search: WaitSearch, parts: Iterable[np.ndarray]) -> _Sums:
        """Add up all waits (WAIT) that a search found."""
        times = np.zeros((3, search.trace.size, len(WaitKind)), np.int64)
        first_sender_ns = 0
        for waits in parts:
            where = search.lanes.rank[waits["lane"]], waits["kind"]
            values = length(waits), waits["polled"] != Polled.MORE, waits["overlap"]
            for table, value in zip(times, values, strict=True):
                np.add.at(table, where, value)
            reduces = waits.compress(waits["kind"] == WaitKind.EARLY_REDUCE)
            first_sender_ns += int((reduces["first"] - reduces["enter"]).sum())
        return cls(times, search.completion_ns, first_sender_ns, search.uncounted)

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(
            self.times + other.times,
            self.completion_ns + other.completion_ns,
            self.first_sender_ns + other.first_sender_ns,
            self.uncounted + other.uncounted,
        )


def _waits(trace: Trace, calls: Profile, sums: _Sums) -> Waits:
    present = np.setdiff1d(np.arange(trace.size), trace.extra(Losses).missing)
    return Waits(
        threads=int(np.asarray(trace.threads)[present].sum()),
        runtime_ns=trace.duration_ns,
        mpi_ns=calls.mpi_ns(),
        starting_ns=int(calls.inside_ns[:, starts_mpi(calls.procedures)].sum()),
        time_ns=sums.times[0],
        count=sums.times[1],
        overlap_ns=sums.times[2],
        barrier_completion_ns=sums.completion_ns[0],
        n_to_n_completion_ns=sums.completion_ns[1],
        first_sender_ns=sums.first_sender_ns,
        uncounted=sums.uncounted,
        present=present,
        chosen=trace.extra(Chosen).ranks,
        unfinished_ns=_unfinished_ns(trace, calls),
    )


def _unfinished_ns(trace: Trace, calls: Profile) -> int:
    """Sum the ns in calls from which ranks did not return, other than MPI_Init; at most what the profile has."""
    number = {name: column for column, name in enumerate(calls.procedures)}
    spent = np.zeros_like(calls.inside_ns)
    for call in trace.extra(Losses).unfinished:
        if call.procedure in number:
            spent[call.rank, number[call.procedure]] += call.until_ns - call.enter_ns
    return int(np.minimum(spent, calls.inside_ns)[:, ~starts_mpi(calls.procedures)].sum())


def _told(trace: Trace, done: ExplainedWaits, costs: DelayCosts, places: WaitPlaces | None, longest: int) -> dict:
    found, path, paths = done.found, done.path, done.paths
    where = places.where if places else None
    return {
        "places": _places(trace, found, path, paths, costs, where),
        "causes": _causes(trace, found, paths, costs),
        "longest": _longest(trace, found, path, paths, costs, where, longest),
        "reasons": reasons(trace, found, places) if places else (),
        "notes": _notes(trace, where) if where else (),
    }


def _notes(trace: Trace, where: Rows) -> tuple[str, ...]:
    """Return lines for the user on places of waits that have no good names."""
    paths = [np.unique(rows["path"]) for _, rows in where.pieces()]
    return tuple(trace.extra(CallPaths).named().notes(np.unique(joined(paths, np.dtype(np.int64)))))


def _places(
    trace: Trace, found: WaitStates, path: Rows, paths: RegionPaths, costs: DelayCosts, where: Rows | None
) -> tuple[WaitPlace, ...]:
    places = trace.extra(CallPaths).named() if where else None
    shape = len(WaitKind), len(paths.texts), max(len(trace.procedures), 1), len(places) if places else 1
    total: dict[int, np.ndarray] = {}
    for parts in zip(found.rows.pieces(), path.pieces(), costs.indirect.pieces(), strict=True):
        (first, waits), (_, region), (_, indirect) = parts
        of_path = where.mapped()["path"][first : first + len(waits)] if where else None
        place = np.zeros(len(waits), np.int64) if of_path is None or places is None else places.place[of_path]
        keys, which = np.unique(
            np.ravel_multi_index((waits["kind"], region, waits["call"], place), shape), return_inverse=True
        )
        weights = waits["polled"] != Polled.MORE, length(waits), waits["overlap"], indirect
        sums = np.stack([np.bincount(which, one, len(keys)) for one in weights], axis=1)
        for key, more in zip(keys.tolist(), sums, strict=True):
            total[key] = total.get(key, 0) + more
    rows = []
    for key, (count, time, overlap, waited) in total.items():
        kind, at, call, number = (int(index) for index in np.unravel_index(key, shape))
        text = places.text(number) if places and number else ""
        of = WaitKind(kind), paths.texts[at], trace.procedures[call]
        rows.append(WaitPlace(*of, int(count), int(time), int(overlap), float(waited), text))
    return tuple(sorted(rows, key=lambda p: (-p.time_ns, p.kind, p.path, p.procedure, p.place)))


def _causes(trace: Trace, found: WaitStates, paths: RegionPaths, costs: DelayCosts) -> tuple[WaitCause, ...]:
    by_rank = np.zeros((trace.size, *costs.by_lane.shape[1:]))
    np.add.at(by_rank, found.search.lanes.rank, costs.by_lane)
    rows = []
    for rank, activity in np.argwhere(by_rank.sum(axis=2) > 0).tolist():
        path, what = costs.activities[activity].tolist()
        direct, indirect = by_rank[rank, activity].tolist()
        rows.append(WaitCause(rank, paths.texts[path], _what(trace, what), direct, indirect))
    return tuple(sorted(rows, key=lambda c: (-(c.direct_ns + c.indirect_ns), c.rank, c.path, c.what)))


def _what(trace: Trace, what: int) -> str:
    if what >= FIRST_CALL:
        return trace.procedures[what - FIRST_CALL]
    return {
        COMPUTING: "computing", NOT_RECORDED: "not recorded", NO_CPU: "waiting for a CPU", OF_TRACER: "the tracer",
    }[what]  # fmt: skip


def _longest(
    trace: Trace, found: WaitStates, path: Rows, paths: RegionPaths, costs: DelayCosts, where: Rows | None, number: int
) -> tuple[SingleWait, ...]:
    lanes = found.search.lanes
    order = longest = np.zeros(0, np.int64)
    for first, waits in found.rows.pieces():
        mine = np.argsort(-length(waits), kind="stable")[:number]
        longest, order = (np.concatenate(pair) for pair in ((longest, length(waits)[mine]), (order, first + mine)))
        kept = np.argsort(-longest, kind="stable")[:number]
        longest, order = longest[kept], order[kept]
    texts = _in_words(trace, where.mapped()[order]) if where else [("", "", ("", ""))] * len(order)
    did_ns = where.mapped()["ns"][order].tolist() if where else [0] * len(order)
    return tuple(
        SingleWait(
            kind=WaitKind(int(wait["kind"])),
            rank=int(lanes.rank[wait["lane"]]),
            thread=int(lanes.thread[wait["lane"]]),
            cause_rank=int(lanes.rank[wait["cause"]]),
            cause_thread=int(lanes.thread[wait["cause"]]),
            begin_ns=int(wait["enter"]),
            time_ns=int(wait["end"] - wait["enter"]),
            procedure=trace.procedures[wait["call"]],
            path=paths.texts[path.mapped()[index]],
            caused_ns=float(costs.caused.mapped()[index]),
            place=place,
            cause=cause,
            lines=lines,
            cause_ns=ns,
        )
        for index, wait, (place, cause, lines), ns in zip(
            order.tolist(), found.waits[order], texts, did_ns, strict=True
        )
    )


def _in_words(trace: Trace, where: np.ndarray) -> list[tuple[str, str, tuple[str, str]]]:
    """Translate waits (WHERE) into texts: the place with its callers, the cause, and the short forms of both."""
    said = WaitTexts(trace)
    causes = [said.every[number] for number in said.causes(where).tolist()]
    paths = where["path"].tolist()
    return [
        (said.chain(path), text, (said.line(path), short)) for path, (text, short) in zip(paths, causes, strict=True)
    ]
