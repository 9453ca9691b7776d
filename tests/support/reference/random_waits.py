"""Random programs that are run by hand: their calls, the waits that their times contain, and who is charged for them.

Everything here follows from the definitions, slowly: each wait is noted where the program's times are made, and each
delay is compared by walking through all that both ranks did.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from hypothesis import strategies as st
from synthetic import WORLD, call, request

from analyzer.waits.kinds import WaitKind
from tracelib.schema import RequestKind

STEP = st.tuples(
    st.sampled_from(["message", "late receive", "waitall", "barrier", "reduce", "broadcast", "nothing"]),
    st.integers(0, 10**6),
    st.lists(st.integers(1, 50), min_size=4, max_size=4),
)
STEPS = st.lists(STEP, min_size=1, max_size=24)


@dataclass
class Wait:
    kind: WaitKind
    rank: int
    cause: int
    enter: int
    end: int
    cause_enter: int
    since: int = 0  # when the two were last in step


@dataclass
class Run:
    """A random run; for each rank (begin, end, activity) in order, activity None for waiting."""

    ranks: int
    calls: list[list] = field(default_factory=list)
    requests: dict[int, list] = field(default_factory=lambda: defaultdict(list))
    did: list[list] = field(default_factory=list)
    now: list[int] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    in_step: dict[frozenset, int] = field(default_factory=dict)

    def compute(self, rank: int, ns: int) -> int:
        self.did[rank].append((self.now[rank], self.now[rank] + ns, "computing"))
        self.now[rank] += ns
        return self.now[rank]

    def enter(self, rank: int, name: str, exit_: int, wait: Wait | None = None, **columns) -> None:
        """A call from now to exit_, which waits until wait.end."""
        enter = self.now[rank]
        self.calls[rank].append(call(name, enter, exit_, **columns))
        if wait and wait.end > enter:
            wait.since = self.in_step.get(frozenset((wait.rank, wait.cause)), 0)
            self.waits.append(wait)
            self.did[rank].append((enter, wait.end, None))
            enter = wait.end
        self.did[rank].append((enter, exit_, name))
        self.now[rank] = exit_

    def meet(self, a: int, b: int) -> None:
        """Both have done their part; the first of them goes on now."""
        pair = frozenset((a, b))
        self.in_step[pair] = max(self.in_step.get(pair, 0), min(self.now[a], self.now[b]))


def run_of(ranks: int, steps) -> Run:
    """The run of the steps; each is made by all ranks, or by two of them."""
    run = Run(ranks, [[] for _ in range(ranks)], did=[[] for _ in range(ranks)], now=[0] * ranks)
    for kind, choice, times in steps:
        a, b = choice % ranks, (choice + 1 + choice // ranks % (ranks - 1)) % ranks
        made = {"message": _message, "late receive": _rendezvous, "waitall": _waitall}.get(kind)
        if made:
            made(run, a, b, times)
        elif kind == "nothing":
            run.compute(a, times[0])
            run.enter(a, "MPI_Comm_rank", run.now[a] + times[1])
        else:
            _collective(run, kind, a, times)
    return run


def _message(run: Run, a: int, b: int, times) -> None:
    """A buffered message: sending it takes 1 ns, so that no receive is posted meanwhile."""
    sent, posted = run.compute(a, times[0]), run.compute(b, times[1])
    run.enter(a, "MPI_Send", sent + 1, comm=WORLD, peer=b, tag=1, sent=8)
    received = max(sent, posted) + 3 + times[3]
    wait = Wait(WaitKind.LATE_SENDER, b, a, posted, sent, sent)
    run.enter(b, "MPI_Recv", received, wait, comm=WORLD, peer=a, tag=1, received=8)
    run.meet(a, b)


def _rendezvous(run: Run, a: int, b: int, times) -> None:
    """A message that is sent when it is received."""
    sent, posted = run.compute(a, times[0]), run.compute(b, times[1])
    begin = max(sent, posted)
    late = Wait(WaitKind.LATE_RECEIVER, a, b, sent, posted, posted)
    run.enter(a, "MPI_Ssend", begin + 1 + times[2], late, comm=WORLD, peer=b, tag=2, sent=8)
    early = Wait(WaitKind.LATE_SENDER, b, a, posted, sent, sent)
    run.enter(b, "MPI_Recv", begin + 2 + times[3], early, comm=WORLD, peer=a, tag=2, received=8)
    run.meet(a, b)


def _waitall(run: Run, a: int, b: int, times) -> None:
    """Receives posted before a computation, and waited for after it."""
    posted = run.compute(b, times[0])
    run.enter(b, "MPI_Irecv", posted + 1, comm=WORLD)
    sent, waited = run.compute(a, times[1]), run.compute(b, times[2])
    run.enter(a, "MPI_Send", sent + 1, comm=WORLD, peer=b, tag=3, sent=8)
    done = max(sent, waited) + 2 + times[3]
    run.enter(b, "MPI_Waitall", done, Wait(WaitKind.LATE_SENDER, b, a, waited, sent, sent))
    run.requests[b].append(request(RequestKind.RECV_DONE, posted, done, peer=a, tag=3, bytes=8))
    run.meet(a, b)


def _collective(run: Run, kind: str, root: int, times) -> None:
    entered = [run.compute(rank, times[rank % 4] + rank) for rank in range(run.ranks)]
    name = {"barrier": "MPI_Barrier", "reduce": "MPI_Reduce", "broadcast": "MPI_Bcast"}[kind]
    for rank in range(run.ranks):
        others = [r for r in range(run.ranks) if r != root]
        if kind == "barrier":
            causes, label = range(run.ranks), WaitKind.BARRIER
        elif kind == "reduce":
            causes, label = others if rank == root else [], WaitKind.EARLY_REDUCE
        else:
            causes, label = [root] if rank != root else [], WaitKind.LATE_BROADCAST
        last = max(causes, key=lambda r: (entered[r], r), default=rank)
        ready = max(entered[rank], entered[last])
        wait = Wait(label, rank, last, entered[rank], entered[last], entered[last]) if last != rank else None
        give = 8 * ((rank == root) == (kind == "broadcast"))
        give, take = (0, 0) if kind == "barrier" else (give, 8 - give)
        where = -1 if kind == "barrier" else root
        run.enter(rank, name, ready + 1 + times[(rank + 1) % 4], wait, comm=WORLD, peer=where, sent=give, received=take)
    for a in range(run.ranks):
        for b in range(a):
            if kind == "barrier" or root in (a, b):
                run.meet(a, b)


def costs_of(run: Run) -> tuple[dict, dict]:
    """Direct and indirect cost by (rank, activity)."""
    direct, indirect = defaultdict(float), defaultdict(float)
    charged = defaultdict(float)  # by (rank, begin of the wait)
    for wait in sorted(run.waits, key=lambda w: -w.end):
        size, total = wait.end - wait.enter, wait.end - wait.enter + charged[wait.rank, wait.enter]
        of_cause, waits = _spent(run, wait.cause, wait.since, wait.cause_enter)
        own, _ = _spent(run, wait.rank, wait.since, wait.enter)
        excess = {what: ns - own.get(what, 0) for what, ns in of_cause.items() if ns > own.get(what, 0)}
        if not excess and not waits:
            excess, _ = _spent(run, wait.cause, wait.enter, wait.cause_enter)
        whole = sum(excess.values()) + sum(waits.values())
        for what, ns in excess.items():
            direct[wait.cause, what] += size * ns / whole
            indirect[wait.cause, what] += (total - size) * ns / whole
        for begin, ns in waits.items():
            charged[wait.cause, begin] += total * ns / whole
    return direct, indirect


def _spent(run: Run, rank: int, begin: int, end: int) -> tuple[dict, dict]:
    """Times by activity in [begin, end), and the waits there by their begin."""
    activities, waits = defaultdict(int), {}
    for first, last, what in run.did[rank]:
        ns = min(last, end) - max(first, begin)
        if ns > 0 and what is None:
            waits[first] = ns
        elif ns > 0:
            activities[what] += ns
    return activities, waits
