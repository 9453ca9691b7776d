"""Latency and bandwidth as the messages of a traced run show them, and how reliable each value is.

For a matched message the time from the entry of the sending call to the exit of the call that completed the receive is
known. It is never shorter than the message's transfer, and equals it where nobody was late. So only messages count
whose receiver was waiting inside the call that completed the receive, and among messages of about one size the fastest.
Where receivers began to wait a little after the sending, which tight exchanges do, the transfer time lies between the
time waited and the whole time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from analyzer.loggp.clock_pairs import ClockPairs
from analyzer.loggp.fastest import BATCHES, NEVER, FastestMessages
from analyzer.loggp.messages_in_calls import call_at, messages_with_calls
from analyzer.metrics.messages import SIZE_CLASSES, size_class
from analyzer.pairing.parts import CallsAt
from analyzer.parallel import Team
from analyzer.trace import Trace
from tracelib.schema.procedures import PLAIN_SENDS, base_name

WHERE = ("intra", "inter")
"""Between ranks of one node; between nodes."""

ENOUGH = 4 * BATCHES
"""Fewer messages of a size class than this say nothing sure."""

GOOD, ROUGH = 0.1, 0.5
"""A time is good, or rough, where the range in which it may lie is at most this part of it."""

LATEST = 0.5
"""A receiver that began to wait later than after this part of a message's time says nothing."""


@dataclass(frozen=True)
class BoundedEstimate:
    """An estimate and where the truth may lie: low <= value <= high, infinite where nobody knows."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SizeClass:
    """Messages of from_bytes to to_bytes. Seconds, and bytes a second; None where the messages do not tell."""

    from_bytes: int
    to_bytes: int
    messages: int  # that were matched
    used: int  # of these, see MessageWay.used
    size_bytes: int  # of the fastest used one
    time: BoundedEstimate | None  # its way from program to program
    bandwidth: BoundedEstimate | None  # of what it has more than the smallest that are trusted
    overhead: BoundedEstimate | None  # time in MPI_Send
    trust: str  # "good", "rough" or "no"
    reason: str  # why not good

    @property
    def kind(self) -> int:
        """Number of binary digits of its sizes."""
        return self.to_bytes.bit_length()


@dataclass(frozen=True)
class MessageWay:
    """Results for all messages within nodes, or for all between nodes."""

    where: str  # "intra", "inter"
    messages: int
    waited: int  # whose receiver was waiting before they were sent
    used: int  # these, and where they are too few those whose receiver began to wait soon after
    backwards: int  # received before they were sent, by the clocks
    clock_error_s: float | None  # largest of the clocks that the estimates rest on; None: nobody knows it
    classes: tuple[SizeClass, ...]  # that have messages, by size

    @property
    def trusted(self) -> tuple[SizeClass, ...]:
        """The classes whose time is at least roughly known."""
        return tuple(c for c in self.classes if c.trust != "no")

    @property
    def smallest(self) -> SizeClass | None:
        """The class whose time is the latency, as far as the run shows it."""
        return self.trusted[0] if self.trusted else None


def observe(trace: Trace, team: Team) -> tuple[MessageWay, ...]:
    """Observe a `MessageWay` for messages within nodes and one for messages between them, if there are any."""
    trace.match()
    sums = _Sums(ClockPairs(trace), np.array([base_name(p) in PLAIN_SENDS for p in trace.procedures], bool))
    for received, sent, calls in messages_with_calls(trace, trace.share(team)):
        sums.add_ways(received, calls)
        sums.add_overheads(sent, calls)
    sums.share(team)
    return tuple(_way(sums, place) for place in range(len(WHERE)) if sums.matched[place].any())


class _Sums:
    """Counts by place (index in WHERE) and size class, and the fastest by place, size class and pair of clocks."""

    def __init__(self, clocks: ClockPairs, is_send: np.ndarray) -> None:
        self.clocks = clocks
        self._is_send = is_send
        self.matched, self.backwards = np.zeros((2, len(WHERE), SIZE_CLASSES), np.int64)
        self.prompt, self.overheads = FastestMessages(), FastestMessages()
        self.nearly, self.least = FastestMessages(), FastestMessages()
        """Also of those that a receiver began to wait for soon after; the whole time, and what was waited."""

    def add_ways(self, messages: np.ndarray, calls: CallsAt) -> None:
        """Count messages, and note the times of those whose receivers waited."""
        place, kind = self.clocks.between_nodes(messages).astype(int), size_class(messages["size"])
        sent, received = messages["logical_send"], messages["physical_receive"]
        backwards = received < sent
        np.add.at(self.matched, (place, kind), 1)
        np.add.at(self.backwards, (place[backwards], kind[backwards]), 1)
        call = call_at(calls, messages, "destination")
        late = np.maximum(call["enter"] - sent - self.clocks.margin_ns(messages), 0)
        waiting = call["exit"] == received
        soon = waiting & ((late == 0) | (late <= LATEST * (received - sent)))
        self._add(self.prompt, messages, received - sent, waiting & (late == 0))
        self._add(self.nearly, messages, received - sent, soon)
        self._add(self.least, messages, received - sent - late, soon)

    def add_overheads(self, messages: np.ndarray, calls: CallsAt) -> None:
        """Note how long MPI_Send took."""
        call = call_at(calls, messages, "source")
        own = (call["enter"] == messages["logical_send"]) & np.append(self._is_send, False)[call["call"]]
        self._add(self.overheads, messages, call["exit"] - call["enter"], own)

    def _add(self, fastest: FastestMessages, messages: np.ndarray, time_ns: np.ndarray, chosen: np.ndarray) -> None:
        chosen = np.flatnonzero(chosen)
        messages, time_ns = messages[chosen], time_ns[chosen]
        place = self.clocks.between_nodes(messages).astype(np.int64)
        kind = (self.clocks.pair(messages) * len(WHERE) + place) * SIZE_CLASSES + size_class(messages["size"])
        fastest.add(kind, messages["logical_send"], messages["size"], time_ns)

    def share(self, team: Team) -> None:
        """Replace the sums of every member by the sums over all members."""
        parts = team.allgather(self)
        self.matched = sum(part.matched for part in parts)
        self.backwards = sum(part.backwards for part in parts)
        for name in ("prompt", "nearly", "least", "overheads"):
            whole = FastestMessages()
            for part in parts:
                whole.take(getattr(part, name))
            setattr(self, name, whole)

    def ways(self, place: int, kind: int) -> tuple[FastestMessages, FastestMessages]:
        """Return for a place and size class the least times, and the least possible times."""
        waited = sum(self.prompt.count(k) for k in self.kinds(self.prompt, place, kind).values())
        return (self.prompt, self.prompt) if waited >= ENOUGH else (self.nearly, self.least)

    def kinds(self, fastest: FastestMessages, place: int, kind: int) -> dict[int, int]:
        """Pair of clocks -> kind in `fastest`, of a place and size class."""
        cell = place * SIZE_CLASSES + kind
        cells = len(WHERE) * SIZE_CLASSES
        return {number // cells: number for number in fastest.kinds() if number % cells == cell}


def _way(sums: _Sums, place: int) -> MessageWay:
    timed = [_timed(sums, place, int(kind)) for kind in np.flatnonzero(sums.matched[place])]
    smallest = next((c for c, _ in timed if c.trust != "no"), None)
    classes = tuple(_with_bandwidth(c, smallest) for c, _ in timed)
    errors = [error for c, error in timed if c.time]
    waited = [sums.prompt.count(k) for c in classes for k in sums.kinds(sums.prompt, place, c.kind).values()]
    return MessageWay(
        where=WHERE[place],
        messages=int(sums.matched[place].sum()),
        waited=sum(waited),
        used=sum(c.used for c in classes),
        backwards=int(sums.backwards[place].sum()),
        clock_error_s=None if None in errors else max((e for e in errors if e is not None), default=0.0),
        classes=classes,
    )


def _timed(sums: _Sums, place: int, kind: int) -> tuple[SizeClass, float | None]:
    """Return a size class but for its bandwidth, and the error of the clocks behind its time (s)."""
    ways, least = sums.ways(place, kind)
    kinds = sums.kinds(ways, place, kind)
    used = sum(ways.count(k) for k in kinds.values())
    time, size, error_s = _fastest_way(sums.clocks, ways, least, kinds) if kinds else (None, 0, 0.0)
    trust, reason = _trust(time, used, error_s)
    low, high = (0, 0) if kind == 0 else (1 << kind - 1, (1 << kind) - 1)
    matched = int(sums.matched[place, kind])
    overhead = _least_overhead(sums, place, kind)
    return SizeClass(low, high, matched, used, size, time, None, overhead, trust, reason), error_s


def _fastest_way(
    clocks: ClockPairs, ways: FastestMessages, least: FastestMessages, kinds: dict[int, int]
) -> tuple[BoundedEstimate, int, float | None]:
    """Find the fastest over all pairs of clocks (pair -> kind), its size, and the clocks' error.

    If messages went both ways between two clocks, the mean of both directions' fastest is free of the clocks'
    difference; such pairs go before others.

    Where messages went both ways between two clocks, the mean of both directions' fastest is free of what the clocks
    are apart; such pairs go before others.
    """
    both = {pair: (kind, kinds[clocks.reverse(pair)]) for pair, kind in kinds.items() if clocks.reverse(pair) in kinds}
    candidates = []
    for pair, (there, back) in (both or {pair: (kind, kind) for pair, kind in kinds.items()}).items():
        times = _mean(ways.times_ns(there), ways.times_ns(back))
        value = (ways.times_ns(there).min() / 2 + ways.times_ns(back).min() / 2) / 1e9
        low = (least.times_ns(there).min() / 2 + least.times_ns(back).min() / 2) / 1e9
        error_s = clocks.error_s(pair)
        if error_s is not None:
            error_s = max(error_s, -float(ways.times_ns(there).min()) / 1e9)
        candidates.append((float(value), pair, float(low), max([value, *times]), error_s))
    value, pair, _, _, error_s = min(candidates)
    low, slowest = min(c[2] for c in candidates), max(value, min(c[3] for c in candidates))
    size = ways.size(kinds[pair])
    if error_s is None:
        return BoundedEstimate(value, 0.0, math.inf), size, None
    return BoundedEstimate(value, max(0.0, low - error_s), float(slowest) + error_s), size, error_s


def _mean(there_ns: np.ndarray, back_ns: np.ndarray) -> np.ndarray:
    """Return the seconds of the eighths that have messages both ways."""
    known = (there_ns != NEVER) & (back_ns != NEVER)
    return (there_ns[known] / 2 + back_ns[known] / 2) / 1e9


def _least_overhead(sums: _Sums, place: int, kind: int) -> BoundedEstimate | None:
    kinds = sums.kinds(sums.overheads, place, kind).values()
    if sum(sums.overheads.count(k) for k in kinds) < ENOUGH:
        return None
    times = np.min([sums.overheads.times_ns(k) for k in kinds], axis=0) / 1e9
    return BoundedEstimate(*(float(t) for t in (times.min(), times.min(), times[times < NEVER / 1e9].max())))


def _trust(time: BoundedEstimate | None, used: int, error_s: float | None) -> tuple[str, str]:
    """Rate a time, and name the main cause if it is not good."""
    if time is None:
        return "no", "no receiver waited"
    if used < ENOUGH:
        return "no", "too few"
    if error_s is None:
        return "no", "clocks unknown"
    width = time.high - time.low
    if width <= GOOD * time.value:
        return "good", ""
    blame = {
        "clocks": 2 * error_s,
        "late receivers": time.value - time.low - error_s,
        "scatter": time.high - time.value - error_s,
    }
    return ("rough" if width <= ROUGH * time.value else "no"), max(blame, key=lambda reason: blame[reason])


def _with_bandwidth(c: SizeClass, smallest: SizeClass | None) -> SizeClass:
    """Add the bandwidth (s - s0) / (t - t0), where s0 bytes take t0; None if t0 may be as long as t."""
    if not (smallest and smallest.time and c.time) or c.trust == "no" or c.from_bytes <= smallest.from_bytes:
        return c
    shortest, longest = c.time.low - smallest.time.high, c.time.high - smallest.time.low
    if shortest <= 0:
        return c
    more_bytes = c.size_bytes - smallest.size_bytes
    likely = c.time.value - smallest.time.value
    return replace(c, bandwidth=BoundedEstimate(more_bytes / likely, more_bytes / longest, more_bytes / shortest))
