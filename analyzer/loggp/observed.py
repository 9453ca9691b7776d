"""Latency and bandwidth from the messages of a traced run, and how reliable each value is.

For a matched message, the time from the entry of the sending call to the exit of the call that completed the receive is
known. This time is never shorter than the message's transfer. It equals the transfer if no rank was late. So only
messages count whose receiver was waiting inside the call that completed the receive; and among messages of about one
size, only the fastest. In tight exchanges, receivers begin to wait a little after the sending. Then the transfer time
lies between the time waited and the whole time.
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
"""Places of messages: between ranks of one node ("intra"), and between nodes ("inter")."""

ENOUGH = 4 * BATCHES
"""Least number of messages of a size class for a reliable time."""

GOOD, ROUGH = 0.1, 0.5
"""Largest width of a time's range, as a share of the time, for which the time is "good", or "rough"."""

LATEST = 0.5
"""Largest share of a message's time that may pass before its receiver begins to wait."""


@dataclass(frozen=True)
class BoundedEstimate:
    """An estimate and the range of the true value: low <= value <= high. An end is infinite if it is not known."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SizeClass:
    """Messages with sizes from `from_bytes` to `to_bytes`. Times are in s, bandwidths in bytes/s. None: not known."""

    from_bytes: int
    to_bytes: int
    messages: int  # number of matched messages
    used: int  # number of messages that the time rests on, see MessageWay.used
    size_bytes: int  # size of the fastest of the used messages
    time: BoundedEstimate | None  # transfer time from program to program
    bandwidth: BoundedEstimate | None  # bandwidth from the difference to the smallest class that is trusted
    overhead: BoundedEstimate | None  # shortest time in MPI_Send
    trust: str  # "good", "rough" or "no"
    reason: str  # why `trust` is not "good"; "" if it is

    @property
    def kind(self) -> int:
        """Number of the size class: the number of binary digits of its sizes."""
        return self.to_bytes.bit_length()


@dataclass(frozen=True)
class MessageWay:
    """Results for all messages within nodes, or for all messages between nodes."""

    where: str  # "intra" or "inter"
    messages: int
    waited: int  # number of messages whose receiver was waiting before they were sent
    used: int  # number of these; in classes with too few, also messages whose receiver began to wait soon after
    backwards: int  # number of messages that were received before they were sent, by the clocks
    clock_error_s: float | None  # largest error of the clocks in s; None: not known
    classes: tuple[SizeClass, ...]  # size classes that have messages, by size

    @property
    def trusted(self) -> tuple[SizeClass, ...]:
        """The size classes whose time is at least roughly known."""
        return tuple(c for c in self.classes if c.trust != "no")

    @property
    def smallest(self) -> SizeClass | None:
        """The smallest trusted size class. Its time is the latency as the run shows it. None: no such class."""
        return self.trusted[0] if self.trusted else None


def observe(trace: Trace, team: Team) -> tuple[MessageWay, ...]:
    """Estimate transfer times within nodes and between nodes from a run's messages. Collective over the team.

    Args:
        trace: The run.
        team: Processes that share the work.

    Returns:
        Results for messages within nodes, and for messages between nodes, if there are any.
    """
    trace.match()
    sums = _Sums(ClockPairs(trace), np.array([base_name(p) in PLAIN_SENDS for p in trace.procedures], bool))
    for received, sent, calls in messages_with_calls(trace, trace.share(team)):
        sums.add_ways(received, calls)
        sums.add_overheads(sent, calls)
    sums.share(team)
    return tuple(_way(sums, place) for place in range(len(WHERE)) if sums.matched[place].any())


class _Sums:
    """Counts and fastest messages by place (index in WHERE), size class and pair of clocks."""

    def __init__(self, clocks: ClockPairs, is_send: np.ndarray) -> None:
        self.clocks = clocks
        self._is_send = is_send
        self.matched, self.backwards = np.zeros((2, len(WHERE), SIZE_CLASSES), np.int64)
        self.prompt, self.overheads = FastestMessages(), FastestMessages()
        self.nearly, self.least = FastestMessages(), FastestMessages()
        """Messages whose receiver began to wait soon after the sending, too: whole time, and time waited."""

    def add_ways(self, messages: np.ndarray, calls: CallsAt) -> None:
        """Count messages, and add the times of messages whose receivers waited."""
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
        """Add the times that messages spent in MPI_Send."""
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
        """Replace the sums of every member of the team by the sums over all members."""
        parts = team.allgather(self)
        self.matched = sum(part.matched for part in parts)
        self.backwards = sum(part.backwards for part in parts)
        for name in ("prompt", "nearly", "least", "overheads"):
            whole = FastestMessages()
            for part in parts:
                whole.take(getattr(part, name))
            setattr(self, name, whole)

    def ways(self, place: int, kind: int) -> tuple[FastestMessages, FastestMessages]:
        """Return times and least possible times of the fastest messages for a place and size class."""
        waited = sum(self.prompt.count(k) for k in self.kinds(self.prompt, place, kind).values())
        return (self.prompt, self.prompt) if waited >= ENOUGH else (self.nearly, self.least)

    def kinds(self, fastest: FastestMessages, place: int, kind: int) -> dict[int, int]:
        """Return the kind in `fastest` for each pair of clocks, for a place and size class."""
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
    """Return a size class without its bandwidth, and the error in s of the clocks behind its time."""
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
    """Find the fastest message over all pairs of clocks. Return its time, its size, and the clocks' error in s.

    If messages went both ways between two clocks, the mean of both directions' fastest is free of the clocks'
    difference. Such pairs are preferred.

    Args:
        clocks: The clocks.
        ways: Times of the fastest messages.
        least: Least possible times of these messages.
        kinds: Kind of messages by pair of clocks.
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
    """Return the mean of both directions in s, for each eighth that has messages in both directions."""
    known = (there_ns != NEVER) & (back_ns != NEVER)
    return (there_ns[known] / 2 + back_ns[known] / 2) / 1e9


def _least_overhead(sums: _Sums, place: int, kind: int) -> BoundedEstimate | None:
    kinds = sums.kinds(sums.overheads, place, kind).values()
    if sum(sums.overheads.count(k) for k in kinds) < ENOUGH:
        return None
    times = np.min([sums.overheads.times_ns(k) for k in kinds], axis=0) / 1e9
    return BoundedEstimate(*(float(t) for t in (times.min(), times.min(), times[times < NEVER / 1e9].max())))


def _trust(time: BoundedEstimate | None, used: int, error_s: float | None) -> tuple[str, str]:
    """Rate a time as "good", "rough" or "no", and name the main cause if it is not good."""
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
    """Add the bandwidth (s - s0) / (t - t0), where the smallest trusted class takes t0 for s0 bytes.

    There is no bandwidth if t0 may be as long as t.
    """
    if not (smallest and smallest.time and c.time) or c.trust == "no" or c.from_bytes <= smallest.from_bytes:
        return c
    shortest, longest = c.time.low - smallest.time.high, c.time.high - smallest.time.low
    if shortest <= 0:
        return c
    more_bytes = c.size_bytes - smallest.size_bytes
    likely = c.time.value - smallest.time.value
    return replace(c, bandwidth=BoundedEstimate(more_bytes / likely, more_bytes / longest, more_bytes / shortest))
