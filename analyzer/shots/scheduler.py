"""Distribution of shots over hosts: first come, first served, on the quickest host that is free.

Hosts get shots in the order of the response times of their last shots. A host that has run none yet is first. So a
host that is slow, busy or badly connected gets fewer shots, and nobody has to know its speed (Girona 2003, section
5.5).
"""

from __future__ import annotations

import shlex
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from statistics import fmean
from threading import Event, Thread

import numpy as np

from analyzer.errors import TracelibError
from analyzer.montecarlo.spread import are_known, looks
from analyzer.shots.folder import ShotFolder, copy_inputs, shot_folder
from analyzer.shots.hosts import FINISH, GIVE_BACK, PROBE, SUSPEND, Host, HostLoad, HostsFile, read_load
from analyzer.shots.plan import ShotPlan
from analyzer.shots.shot_execution import EndingKind, HostInputs, ShotEnding, ShotExecution, control
from analyzer.shots.shot_records import ShotBook, ShotOutcome, ShotRecord

_INPUTS = "inputs"
_TICK_S = 0.1
_REFRESH_S = 1.0
"""Time in s between two readings of the file of hosts."""
_LOAD_S = 10.0
"""Time in s for which a measured load of a host is used."""
_LAST = 10
"""Number of a host's last shots whose response times count."""
_END_S = 20.0
"""Longest time in s that the end of the study waits for hosts to end their shots."""


@dataclass
class _State:
    """A host, its running shots, and what the study knows of it."""

    host: Host
    inputs: HostInputs
    running: dict[int, ShotExecution] = field(default_factory=dict)
    times_s: deque[float] = field(default_factory=lambda: deque(maxlen=_LAST))
    trouble: str = ""  # why the host cannot be used; "": it can be used
    ask_at: float = 0.0  # time of the next probe, by the monotonic clock
    asking: bool = False
    load: HostLoad | None = None
    load_at: float = -np.inf
    fresh: int = 0  # number of shots that began since the load was measured

    @property
    def response_s(self) -> float:
        return fmean(self.times_s) if self.times_s else 0.0


class ShotScheduler:
    """Runs the shots of a study that have not ended yet."""

    def __init__(
        self, plan: ShotPlan, book: ShotBook, folder: Path, hosts: HostsFile, say: Callable[[str], None],
        *, progress: Callable[[str], None] = lambda text: None, now: Callable[[], datetime] = datetime.now,
    ) -> None:  # fmt: skip
        """Prepare to run a study. `run` starts it.

        Args:
            plan: The study.
            book: Records of the shots that have ended; new ones are added.
            folder: The folder of the study.
            hosts: The hosts that run shots.
            say: Called with a line of text for events that the user should know.
            progress: Called with a text of how many shots have ended.
            now: Clock for the hosts' time windows.
        """
        self._plan, self._book, self._folder, self._file = plan, book, folder.resolve(), hosts
        self._say, self._progress, self._now = say, progress, now
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._states: dict[str, _State] = {}
        self._pending: deque[int] = deque()
        self._lost: dict[int, list[str]] = {}
        self._asking: list[Thread] = []
        self._closing = Event()
        self._refreshed = -np.inf
        self._alone_since = time.monotonic()

    def run(self) -> int:
        """Run all shots, or as many as the study's precision needs.

        Returns:
            Number of shots that count: shots 1 to this number.

        Raises:
            TracelibError: No host answers for the study's patience, or a file cannot be written.
        """
        if not (self._folder / _INPUTS).is_dir():
            copy_inputs(self._plan, self._folder / _INPUTS)
        counts = self._counts()
        count = next(counts)
        self._pending.extend(shot for shot in range(1, self._plan.samples + 1) if shot not in self._book.records)
        self._take_hosts()
        try:
            self._take_up()
            while True:
                while all(shot in self._book.records for shot in range(1, count + 1)):
                    following = None if self._is_known(count) else next(counts, None)
                    if following is None:
                        return count
                    count = following
                self._step()
        finally:
            self._end()

    def _counts(self) -> Iterator[int]:
        if self._plan.until is None:
            return iter([self._plan.samples])
        return looks(self._plan.samples)

    def _is_known(self, count: int) -> bool:
        """Check whether the means of the first `count` shots are known to the study's precision."""
        if self._plan.until is None:
            return False
        rows = [self._book.records[shot].outputs for shot in range(1, count + 1)]
        good = [[row[output.name] for output in self._plan.outputs] for row in rows if row]
        return len(good) > 1 and are_known(np.array(good), self._plan.until)

    def _step(self) -> None:
        """Check hosts, give shots to free hosts, and wait up to 0.1 s (`_TICK_S`) for an event."""
        moment = time.monotonic()
        if moment - self._refreshed > _REFRESH_S:
            self._refreshed = moment
            if wrong := self._file.refresh():
                self._say(wrong)
            self._take_hosts()
        for state in self._states.values():
            self._keep_window(state)
        for state in sorted(self._states.values(), key=lambda state: state.response_s):
            while self._pending and self._is_free(state):
                self._begin(state)
        self._progress(f"{len(self._book.records)} of {self._plan.samples} shots")
        self._check_patience()
        with suppress(Empty):
            self._events.get(timeout=_TICK_S)()
            while True:
                self._events.get_nowait()()

    # Hosts

    def _take_hosts(self) -> None:
        """Add hosts that are new in the file. A host that is gone from it gets no new shots."""
        for host in self._file.hosts:
            state = self._states.setdefault(host.name, _State(host, HostInputs(self._folder / _INPUTS)))
            if state.host != host:
                state.host, state.trouble, state.load = host, "", None
        named = {host.name for host in self._file.hosts}
        for name in [name for name, state in self._states.items() if name not in named and not state.running]:
            del self._states[name]
        for name, state in self._states.items():
            if name not in named and state.host.slots:
                state.host = replace(state.host, slots=0)

    def _is_free(self, state: _State) -> bool:
        """Check whether a host can begin another shot now."""
        host = state.host
        if len(state.running) >= host.slots or not host.is_open(self._now()):
            return False
        if state.trouble:
            self._ask(state)
            return False
        return self._has_room(state)

    def _has_room(self, state: _State) -> bool:
        """Check whether load, memory and disk of a host, measured at most 10 s ago, allow another shot."""
        host, job = state.host, self._plan.job
        if host.most_load == np.inf and not any((host.least_memory, host.least_disk, job.memory_bytes, job.disk_bytes)):
            return True
        if time.monotonic() - state.load_at > _LOAD_S or state.load is None:
            self._ask(state)
            return False
        more = state.fresh + 1
        return (
            state.load.load + state.fresh < host.most_load
            and state.load.memory_bytes - more * job.memory_bytes >= host.least_memory
            and state.load.disk_bytes - more * job.disk_bytes >= host.least_disk
        )

    def _ask(self, state: _State) -> None:
        """Start a thread that probes the load of a host. An answer also shows that the host is there."""
        if state.asking or time.monotonic() < state.ask_at:
            return
        state.asking = True
        host = state.host
        where = shlex.quote(host.work or str(self._folder))

        def ask() -> None:
            try:
                answer = control(host, PROBE.format(folder=where), host.silence_s, self._closing)
            except OSError as error:
                answer = 1, str(error.strerror)
            self._events.put(lambda: self._answered(state, *answer))

        self._asking = [thread for thread in self._asking if thread.is_alive()]
        self._asking.append(Thread(target=ask))
        self._asking[-1].start()

    def _answered(self, state: _State, code: int, said: str) -> None:
        state.asking = False
        load = None if code else read_load(said)
        if load is None:
            why = said or f"its command line ended with exit status {code}"
            self._set_aside(state, why if code else f"it does not say its load: {said.splitlines()[-1:]}")
            return
        if state.trouble:
            self._say(f"{state.host.name} is there again")
        state.trouble, state.ask_at = "", 0.0
        state.load, state.load_at, state.fresh = load, time.monotonic(), 0

    def _set_aside(self, state: _State, why: str) -> None:
        """Give no shots to a host until it answers a probe."""
        if not state.trouble:
            self._say(f"{state.host.name} cannot be used: {why}")
        state.trouble, state.ask_at = why or "unknown", time.monotonic() + state.host.again_s

    def _keep_window(self, state: _State) -> None:
        """Suspend or stop the running shots of a host that is outside of its windows, as the host's `outside` says."""
        if state.host.outside == FINISH or not state.running:
            return
        is_open = state.host.is_open(self._now())
        for execution in state.running.values():
            if state.host.outside == SUSPEND:
                execution.pause(paused=not is_open)
            elif state.host.outside == GIVE_BACK and not is_open:
                execution.stop()

    def _check_patience(self) -> None:
        """Raise TracelibError if no host has answered for `patience_s`."""
        usable = [state for state in self._states.values() if state.running or not state.trouble]
        if usable or not self._states:
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > self._plan.patience_s:
            name, state = next(iter(self._states.items()))
            raise TracelibError(
                f"no host answers: {name}: {state.trouble}", "correct the hosts; the same command then goes on"
            )

    # Shots

    def _take_up(self) -> None:
        """Take over what a killed study has left: results that were not recorded, and jobs in batch systems."""
        for shot in list(self._pending):
            folder = shot_folder(self._folder, shot)
            if folder.has_ended:
                self._pending.remove(shot)
                before = self._book.unread.get(shot)
                host, seconds = (before.host, before.seconds) if before else (folder.host, folder.took_s)
                self._keep(folder.harvest(self._plan, shot, host, seconds))
            elif there := folder.in_batch:
                state = self._states.get(folder.host)
                if state is None or state.host.batch is None:
                    self._say(f"shot {shot} is begun anew: {folder.host} has no batch system any more")
                    continue
                self._pending.remove(shot)
                self._give(state, shot, folder, there, adopted=True)

    def _begin(self, state: _State) -> None:
        """Start the first pending shot on a host."""
        shot, host = self._pending.popleft(), state.host
        folder = shot_folder(self._folder, shot)
        there = f"{host.work}/{self._folder.name}-{folder.path.name}" if host.work else str(folder.path)
        inputs = state.inputs.place(host, self._folder.name) if self._plan.job.inputs else ""
        folder.fill(self._plan, shot, host, there, inputs)
        self._give(state, shot, folder, there)

    def _give(self, state: _State, shot: int, folder: ShotFolder, there: str, *, adopted: bool = False) -> None:
        host, inputs = state.host, state.inputs
        state.fresh += 1

        def bring(unwanted: Event) -> None:
            if self._plan.job.inputs:
                inputs.put(host, inputs.place(host, self._folder.name), unwanted)

        def ended(ending: ShotEnding) -> None:
            self._events.put(lambda: self._ended(state, shot, ending))

        timeout_s = self._plan.job.timeout_s
        state.running[shot] = ShotExecution(host, folder, there, timeout_s, ended, bring=bring, adopted=adopted)
        state.running[shot].start()

    def _ended(self, state: _State, shot: int, ending: ShotEnding) -> None:
        """Record the result of a shot that has ended, or put the shot back for another host."""
        del state.running[shot]
        name = state.host.name
        if ending.how is EndingKind.ENDED:
            state.times_s.append(ending.seconds)
            self._keep(shot_folder(self._folder, shot).harvest(self._plan, shot, name, ending.seconds))
        elif self._closing.is_set():
            return
        elif ending.how is EndingKind.HUNG:
            state.times_s.append(ending.seconds)
            said = f"longer than {self._plan.job.timeout_s:g} s"
            self._keep(ShotRecord(shot, ShotOutcome.HUNG, name, ending.seconds, {}, said))
        elif ending.how is EndingKind.LOST:
            state.inputs.forget()
            self._set_aside(state, ending.said)
            self._lose(shot, name, ending)
        else:
            self._pending.appendleft(shot)

    def _lose(self, shot: int, host: str, ending: ShotEnding) -> None:
        """Put a lost shot back for another host. After `tries` losses it is recorded as lost: it may kill its hosts."""
        if ending.began:
            self._lost.setdefault(shot, []).append(host)
        hosts = self._lost.get(shot, [])
        if len(hosts) >= self._plan.job.tries:
            said = f"begun {len(hosts)} times and lost ({', '.join(hosts)}: {ending.said})"
            self._keep(ShotRecord(shot, ShotOutcome.LOST, host, ending.seconds, {}, said))
        else:
            self._pending.appendleft(shot)

    def _keep(self, record: ShotRecord) -> None:
        row = self._plan.values[record.shot - 1]
        self._book.add(record, self._plan.named(record.shot, row, record.host))

    def _end(self) -> None:
        """Stop all running shots and wait for their end, so that nothing is left running."""
        self._closing.set()
        running = [execution for state in self._states.values() for execution in state.running.values()]
        for execution in running:
            execution.stop()
        last = time.monotonic() + _END_S
        for execution in running:
            execution.join(max(last - time.monotonic(), 0.0))
        for thread in self._asking:
            thread.join(max(last - time.monotonic(), 0.0))
        with suppress(Empty):
            while True:
                self._events.get_nowait()()
        for state in self._states.values():
            state.inputs.remove(state.host, self._folder.name)
