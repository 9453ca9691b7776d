"""The simulator once more: slow, short, and written from the specification alone.

Everything is a list, the next event is the least of all, and nothing is kept that can be found again by looking.
Source: "Dimemas specification", sections 1.2 to 1.10; the order of what happens at one instant and the points that the
documents leave open follow the project's rules for equality to the nanosecond.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from reference_draws import Draws
from reference_files import Files
from reference_machine import Costs
from reference_messages import Messages
from reference_network import Links
from reference_policies import Policies
from reference_state import (
    ARRIVE,
    BUSY,
    COLLECTIVES,
    DISPATCH,
    ENDED,
    MESSAGES,
    MOST_RUNS,
    POST,
    SLICE,
    SUBMIT,
    Instance,
    Message,
    Receive,
    Thread,
)  # fmt: skip
from reference_windows import Windows

from analyzer.machine.description import SPIN, Machine, PrioritySource
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind


class Reference(Policies, Messages, Links, Windows, Files):
    """One run of one program: `begin` and `end` of each operation, and when it `acted` after its overhead. The
    `messages` by operation, `cpu_waits` by thread.

    applications: how many ranks each has, if the program is made of several. With `repetitions` who ends begins again
    until each has ended that often: `runs` are (application, begin, end).
    """

    def __init__(
        self, program: Program, machine: Machine, applications: Sequence[int] = (), repetitions: int = 0
    ) -> None:
        self.program, self.policy, self.machine = program, machine.scheduling, machine
        self.costs = Costs(program, machine)
        self.thesis, self.as_dimemas = self.costs.thesis, self.costs.as_dimemas
        self.now, self.round, self.phase, self.serial = 0, 0, ARRIVE, 0
        self.events: list[tuple[tuple[int, ...], Callable[[], object]]] = []
        self.begin, self.end = [-1] * len(program.ops), [-1] * len(program.ops)
        self.acted = [-1] * len(program.ops)
        self.messages: dict[int, Message] = {}
        self.sent: dict[tuple[int, ...], list[Message]] = {}  # and not received
        self.posted: dict[tuple[int, ...], list[Receive]] = {}  # and not sent
        self.cpu_waits: dict[tuple[int, int, int], list[tuple[int, int]]] = {}  # for it, or the change to it
        self.cpus: dict[tuple[int, int, int], list[tuple[int, int]]] = {}  # that it has from a time on
        self.taken = dict.fromkeys(self.costs.room, 0)
        self.queue: list[Message] = []  # in order of submission
        self.holding: list[Instance] = []  # that wait for the network or hold it
        self.waiting: dict[tuple[str, int], list[Any]] = {}
        self.having_out: dict[tuple[str, int], list[Message]] = {}
        self.open_receives: dict[tuple[int, ...], list[Receive]] = {}
        self.surplus: dict[tuple[int, ...], int] = {}
        self.in_flight = 0  # between nodes: those that take links
        self.instances: dict[tuple[int, int], Instance] = {}
        self.entered: dict[tuple[int, int], int] = {}  # collectives, by communicator and rank
        self.file_served: list[tuple[int, int]] = []
        self.file_waits = 0
        self.accesses: Counter[tuple[int, ...]] = Counter()
        self.held: dict[tuple[int, int], list[tuple[int, int, int]]] = {}  # by window: rank, target, kind
        self.queues: dict[tuple[int, int], dict[int, list[tuple[Thread, int]]]] = {}
        self.semaphores: dict[tuple[int, int], int] = {}
        self.ready: list[Thread] = []
        self.last_on: dict[tuple[int, int], tuple[int, int, int]] = {}
        self.loads: dict[int, float] = {}
        self.intervals_drawn: dict[str, int] = {}
        self.repetitions = repetitions
        self.application_of = [a for a, ranks in enumerate(applications or [program.ranks]) for _ in range(ranks)]
        self.runs: list[tuple[int, int, int]] = []
        self.began: dict[int, int] = {}
        self.threads: list[Thread] = []
        self.over = 0  # when the last of them ended

    def _thread(self, stream: int, run: int) -> Thread:
        p, names = self.program, self.program.ops.dtype.names or ()
        first, stop, rank = int(p.offsets[stream]), int(p.offsets[stream + 1]), int(p.rank[stream])
        ops = [dict(zip(names, row, strict=True)) for row in p.ops[first:stop].tolist()]
        return Thread(rank, int(p.thread[stream]), ops, first, self.first_priority(rank), run=run)

    # The loop.

    def run(self) -> Reference:
        """To the end. Raises RuntimeError where threads wait for ever."""
        for application in range(self.application_of[-1] + 1):
            self.begin_run(application)
        if self.policy.priority == PrioritySource.DECAY:
            self.begin_intervals()
        while self.events and not (self.repetitions and self.complete()):
            event = min(self.events, key=lambda e: e[0])
            self.events.remove(event)
            self.now, self.round, self.phase = event[0][:3]
            event[1]()
        if not self.repetitions and any(t.at < len(t.ops) for t in self.threads):
            raise RuntimeError("deadlock")
        return self

    def complete(self) -> bool:
        """Each application has ended as often as wanted."""
        ended = [run[0] for run in self.runs]
        return all(ended.count(a) >= self.repetitions for a in range(self.application_of[-1] + 1))

    def begin_run(self, application: int) -> None:
        """All threads of an application, from their beginning."""
        number = [run[0] for run in self.runs].count(application)
        mine = [k for k, rank in enumerate(self.program.rank.tolist()) if self.application_of[rank] == application]
        self.threads = [t for t in self.threads if self.application_of[t.rank] != application]
        started = [self._thread(k, number) for k in mine]
        self.threads += started
        self.began[application] = self.now
        for thread in started:
            self.begin[thread.first : thread.first + len(thread.ops)] = [-1] * len(thread.ops)
            self.enqueue(thread)
            self.load(thread)

    def end_run(self, application: int) -> None:
        """The last thread of an application has ended."""
        self.runs.append((application, self.began[application], self.now))
        if self.repetitions and not self.complete():
            if len(self.runs) == MOST_RUNS:
                raise RuntimeError("one starves")
            self.begin_run(application)

    def schedule(
        self, time: int, phase: int, key: tuple[int, int, int], action: Callable[[], object], again: bool = False
    ) -> None:
        """Schedule an event. With an earlier phase than the one under way, or again, it comes in the instant's next
        round."""
        round_ = 0 if time > self.now else self.round + (phase < self.phase or again)
        self.serial += 1
        self.events.append(((time, round_, phase, *key, self.serial), action))

    # Processors.

    def load(self, thread: Thread) -> None:
        """The next operation: its burst, and what it costs its own processor."""
        thread.remaining = thread.overhead = 0
        if thread.at < len(thread.ops):
            op, draws = thread.ops[thread.at], self.draws(thread)
            thread.draws = draws
            burst = self.costs.burst(thread.rank, op, draws)
            if op["kind"] in MESSAGES or (not self.thesis and self.takes_message(op)):
                node_of = self.costs.node_of
                cost = self.costs.message(node_of[thread.rank], node_of[op["peer"]], op["bytes"], draws)
                thread.overhead, thread.wire, thread.hold = cost
            if op["kind"] == OperationKind.PARALLEL:
                burst = self.fork(thread, burst, max(op["other"], 1))
            thread.remaining = burst + thread.overhead

    @staticmethod
    def takes_message(op: dict[str, Any]) -> bool:
        """Tell whether an operation pays for a message: a nonblocking receive pays where it is waited for."""
        other = op["peer"] < 0 or op["flags"] & (OperationFlag.OF_COLLECTIVE | OperationFlag.OF_ACCESS)
        return op["kind"] == OperationKind.RECV or (op["kind"] == OperationKind.WAIT and not other)

    def draws(self, thread: Thread) -> Draws:
        """The random numbers of its operation."""
        application = self.application_of[thread.rank]
        rank = thread.rank - self.application_of.index(application)
        who = 2**48 * application + 2**16 * rank + thread.number
        return Draws(self.machine.seed, who, 2**40 * thread.run + thread.first + thread.at)

    def make_ready(self, thread: Thread) -> None:
        """It wants a processor: at the start, and when what it waited for has come."""
        if thread.waits_for is not None:
            first = self.as_dimemas and isinstance(thread.waits_for, Message) and not thread.waits_for.access
            thread.waits_for = None
            if thread.busy:
                thread.busy = False
                return self.finish(thread)
            thread.resumes = True
            thread.wants = self.now
            if thread in self.ready:  # it spins, and it is not its turn
                return None
            if self.policy.priority == PrioritySource.SVR4:
                thread.priority = self.policy.levels[thread.priority].slept
            return self.enqueue(thread, -1 if first else 1)
        return self.enqueue(thread)

    def enqueue(self, thread: Thread, end: int = 1) -> None:
        """Behind all others as good; -1: before them."""
        self.serial += 1
        thread.queued = end * self.serial
        thread.wants = self.now
        self.ready.append(thread)
        self.ask(thread)

    def ask(self, thread: Thread, time: int | None = None) -> None:
        node = self.costs.node_of[thread.rank]
        self.schedule(self.now if time is None else time, DISPATCH, (node, 0, 0), lambda: self.dispatch(node))

    def dispatch(self, node: int) -> None:
        """Ready threads get processors, the best first; preemption where the policy has it."""
        while ready := [t for t in self.ready if self.costs.node_of[t.rank] == node]:
            best = min(ready, key=lambda t: (t.priority, t.queued))
            idle = [c for c in range(self.costs.nodes[node].cpus) if not self.on(node, c)]
            if not idle and not self.preempt(node, best):
                return
            if idle:
                self.ready.remove(best)
                mine = [c for c in idle if self.last_on.get((node, c)) == best.name]
                new = [c for c in idle if (node, c) not in self.last_on]
                self.give(best, node, best.last_cpu if best.last_cpu in mine else (mine or new or idle)[0])

    def on(self, node: int, cpu: int) -> list[Thread]:
        return [t for t in self.threads if t.cpu == cpu and self.costs.node_of[t.rank] == node]

    def preempt(self, node: int, best: Thread) -> bool:
        """Take the worst thread off its processor if the best is better and it had its least time."""
        here = [t for t in self.threads if t.cpu is not None and self.costs.node_of[t.rank] == node]
        worse = [t for t in here if t.priority > best.priority]
        if not self.policy.preemptive or not worse:
            return False
        ran = [t for t in worse if self.now >= t.kept]
        if not ran:
            first = min(worse, key=lambda t: t.kept)
            self.ask(first, first.kept)
            return False
        worst = max(ran, key=lambda t: (t.priority, t.queued))
        self.lose(worst)
        return True

    def give(self, thread: Thread, node: int, cpu: int) -> None:
        last = self.last_on.get((node, cpu))
        self.last_on[node, cpu] = thread.name
        spins = thread.waits_for is not None
        same = spins or last in (None, thread.name)
        starts = self.now + (0 if same else self.time(thread, "context_switch_ns"))
        if (not spins and thread.wants < starts) or cpu != thread.last_cpu:
            self.cpus.setdefault(thread.name, []).append((starts, cpu))
        if not spins and thread.wants < starts:
            self.cpu_waits.setdefault(thread.name, []).append((thread.wants, starts))
        thread.cpu, thread.last_cpu = cpu, cpu
        thread.kept = max(self.now + self.time(thread, "least_run_ns"), starts + (starts > self.now))
        if thread.resumes:
            thread.resumes = False
            self.end[thread.first + thread.at] = starts
            thread.at += 1
            self.load(thread)
        thread.stay += 1
        self.slice(thread, starts)
        if spins:
            thread.busy = True
        else:
            self.compute(thread, starts)

    def slice(self, thread: Thread, starts: int) -> None:
        stay, quantum = thread.stay, self.quantum(thread)
        if quantum:
            self.schedule(
                starts + quantum, SLICE, thread.key(), lambda: thread.stay == stay and self.slice_ends(thread)
            )

    def slice_ends(self, thread: Thread) -> None:
        """To the end of the queue; a new slice where there are processors for all that are in it.

        A thread whose burst is over, too, acts first.
        """
        if not thread.busy and thread.computes + thread.remaining == self.now:
            stay = thread.stay
            ends = lambda: thread.stay == stay and self.slice_ends(thread)  # noqa: E731
            return self.schedule(self.now, SLICE, thread.key(), ends, again=True)
        if self.policy.priority == PrioritySource.SVR4:
            thread.priority = self.policy.levels[thread.priority].expired
        node = self.costs.node_of[thread.rank]
        idle = [c for c in range(self.costs.nodes[node].cpus) if not self.on(node, c)]
        if len([t for t in self.ready if self.costs.node_of[t.rank] == node]) > len(idle):
            self.lose(thread)
        else:
            self.slice(thread, self.now)
        return None

    def lose(self, thread: Thread) -> None:
        """Its processor, to another thread."""
        thread.stay += 1
        thread.turn += 1
        thread.cpu = None
        if thread.busy:
            thread.busy = False
            if self.policy.busy_wait_ns == SPIN:
                self.enqueue(thread)
            self.ask(thread)
            return
        self.note_begin(thread)
        thread.remaining -= self.now - thread.computes
        self.enqueue(thread)

    def note_begin(self, thread: Thread, acts: bool = False) -> None:
        """The burst may be over; a processor that is lost at that very instant is lost before."""
        over = thread.computes + thread.remaining - thread.overhead
        if thread.at < len(thread.ops) and self.begin[thread.first + thread.at] < 0 and (over < self.now or acts):
            self.begin[thread.first + thread.at] = over

    def compute(self, thread: Thread, starts: int) -> None:
        """Up to the operation, unless it loses its processor before."""
        thread.computes = starts
        thread.turn += 1
        turn, number = thread.turn, thread.first + thread.at
        kind = thread.ops[thread.at]["kind"] if thread.at < len(thread.ops) else OperationKind.NONE
        phase = SUBMIT if kind in (*MESSAGES, *COLLECTIVES, OperationKind.FILE) else POST
        self.schedule(
            starts + thread.remaining, phase, thread.key(number), lambda: thread.turn == turn and self.act(thread)
        )

    def finish(self, thread: Thread) -> None:
        """The operation ends on its processor, which goes on to the next."""
        self.end[thread.first + thread.at] = self.now
        thread.at += 1
        self.load(thread)
        self.compute(thread, self.now)

    def is_wanted(self, thread: Thread) -> bool:
        """Somebody waits for its processor."""
        node_of = self.costs.node_of
        return any(node_of[t.rank] == node_of[thread.rank] for t in self.ready)

    def give_way(self, thread: Thread) -> None:
        """Dimemas: to the end of the queue between two bursts."""
        self.end[thread.first + thread.at] = self.now
        thread.at += 1
        thread.turn += 1
        self.leave(thread)
        self.load(thread)
        self.enqueue(thread)

    def block(self, thread: Thread, what: Any) -> None:
        thread.waits_for = what
        self.serial += 1
        thread.blocked = self.serial
        spins = self.policy.busy_wait_ns == SPIN
        wait = self.time(thread, "busy_wait_ns") if isinstance(what, Receive) and not spins else 0
        thread.turn += 1
        if spins and what != "children" and not self.is_semaphore(what):
            thread.busy = True
        elif wait:
            thread.busy = True
            turn = thread.turn
            self.schedule(self.now + wait, BUSY, thread.key(), lambda: thread.turn == turn and self.lose(thread))
        else:
            self.leave(thread)

    def leave(self, thread: Thread) -> None:
        thread.cpu = None
        thread.stay += 1
        self.ask(thread)

    # Operations.

    def act(self, thread: Thread) -> None:
        self.note_begin(thread, acts=True)
        if thread.at < len(thread.ops):
            self.acted[thread.first + thread.at] = self.now
        if thread.at == len(thread.ops):
            self.leave(thread)
            thread.done = True
            if not thread.parent:
                self.over = self.now
                application = self.application_of[thread.rank]
                if all(t.done for t in self.threads if self.application_of[t.rank] == application):
                    self.end_run(application)
            if thread.parent:
                thread.parent.children -= 1
                if not thread.parent.children and thread.parent.waits_for == "children":
                    self.make_ready(thread.parent)
            return
        op = thread.ops[thread.at]
        does = {
            OperationKind.SEND: self.send,
            OperationKind.PUT: self.send,
            OperationKind.GET: self.send,
            OperationKind.RECV: self.receive,
            OperationKind.IRECV: self.receive,
            OperationKind.WAIT: self.wait,
            OperationKind.COLLECTIVE: self.enter,
            OperationKind.COLLECTIVE_START: self.enter,
            OperationKind.PRIORITY: self.set_priority,
            OperationKind.SEM_WAIT: self.sem_wait,
            OperationKind.SEM_SIGNAL: self.sem_signal,
            OperationKind.ACCESSES_WAIT: self.accesses_wait,
            OperationKind.PARALLEL: self.join,
            OperationKind.LOCK: self.lock,
            OperationKind.UNLOCK: self.unlock,
            OperationKind.FILE: self.file,
        }
        waits_for = does.get(op["kind"], lambda _thread, _op: None)(thread, op)
        between = op["kind"] == OperationKind.NONE and thread.at + 1 < len(thread.ops) and self.as_dimemas
        if between and self.is_wanted(thread):
            self.give_way(thread)
        elif waits_for is None:
            self.finish(thread)
        else:
            self.block(thread, waits_for)

    def enter(self, thread: Thread, op: dict[str, Any]) -> Instance | None:
        comm = op["comm"]
        n = self.entered[comm, thread.rank] = self.entered.get((comm, thread.rank), 0) + 1
        instance = self.instances.setdefault((comm, n), Instance(comm, n))
        instance.entered[thread.rank] = op
        if op["peer"] == thread.rank and op["kind"] == OperationKind.COLLECTIVE:
            instance.root = thread
        if thread.rank == self.program.communicators[comm][0]:
            instance.draws = self.draws(thread)
        if len(instance.entered) == len(self.program.communicators[comm]):
            if self.costs.exclusive(comm) and not instance.of_file:
                self.holding.append(instance)
                if self.in_turn:
                    network = self.costs.nodes[self.costs.node_of[self.program.communicators[comm][0]]].network
                    self.wait_at(("bus", network), instance)
                self.ask_network()
            else:
                self.start_collective(instance)
        if op["kind"] == OperationKind.COLLECTIVE_START:
            thread.requests[op["request"]] = instance
            return None
        return instance

    def start_collective(self, instance: Instance) -> None:
        instance.running = True
        assert instance.draws
        cost = 0
        if not instance.of_file:
            cost = self.costs.collective(instance.comm, instance.entered, instance.draws)
        self.schedule(
            self.now + cost, ENDED, (instance.comm, instance.number, 0), lambda: self.collective_ends(instance)
        )

    def collective_ends(self, instance: Instance) -> None:
        instance.done = True
        if instance in self.holding:
            self.holding.remove(instance)
            self.free_buses(instance)
        self.ask_network()
        for thread in self.threads:
            if thread.waits_for is instance:
                self.met(thread, instance, thread.ops[thread.at])
        self.wake_members(instance)

    def wake(self, what: Any) -> None:
        """All that wait for something, by rank and thread."""
        for thread in sorted((t for t in self.threads if t.waits_for is what), key=lambda t: (t.rank, t.number)):
            self.make_ready(thread)

    def wake_members(self, instance: Instance) -> None:
        """By rank and thread; Dimemas: as they came, the root last."""
        if not self.as_dimemas:
            return self.wake(instance)
        members = [t for t in self.threads if t.waits_for is instance]
        for thread in sorted(members, key=lambda t: (t is instance.root, t.blocked)):
            self.make_ready(thread)
        return None

    def set_priority(self, thread: Thread, op: dict[str, Any]) -> None:
        if self.policy.priority == PrioritySource.RECORDS:
            thread.priority = op["other"]
            self.ask(thread)

    def sem_wait(self, thread: Thread, op: dict[str, Any]) -> tuple[str, int, int] | None:
        name = (thread.rank, op["tag"])
        if self.semaphores.get(name, 0) > 0:
            self.semaphores[name] -= 1
            return None
        self.serial += 1
        return "semaphore", *name, self.serial  # type: ignore[return-value]

    @staticmethod
    def is_semaphore(what: Any) -> bool:
        return isinstance(what, tuple) and what[0] == "semaphore"

    def sem_signal(self, thread: Thread, op: dict[str, Any]) -> None:
        name = ("semaphore", thread.rank, op["tag"])
        waiting = [t for t in self.threads if isinstance(t.waits_for, tuple) and t.waits_for[:3] == name]
        if waiting:
            self.make_ready(min(waiting, key=lambda t: t.waits_for[3]))
        else:
            self.semaphores[name[1:]] = self.semaphores.get(name[1:], 0) + 1

    def fork(self, thread: Thread, whole: int, n: int) -> int:
        """Virtual threads take equal shares of a burst; the rest and a share are the thread's own."""
        thread.children = n - 1
        for k in range(1, n):
            child = Thread(thread.rank, thread.number, [], 0, thread.priority, parent=thread, share=k)
            self.threads.append(child)
            child.remaining = whole // n
            self.enqueue(child)
        return whole // n + whole % n

    def join(self, thread: Thread, op: dict[str, Any]) -> str | None:
        return "children" if thread.children else None
