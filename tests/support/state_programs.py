"""Programs of known loops as traces of states alone: no MPI events, no messages, no counters.

Each kind is a function of a `Program`. It lets time pass on the ranks (or threads, or streams), and returns how many
iterations its main loop has; None: it has none. How long things take, how often they are done and how much they vary is
drawn from a seed; what each burst takes also from another one, as in several runs of one program.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from analyzer.trace import State

IDLE, RUN, WAIT, SEND, SYNC, FORK, ALL, FILES, GROUP, MEMORY, EXCHANGE = (
    State.IDLE, State.RUNNING, State.WAITING_MESSAGE, State.IMMEDIATE_SEND, State.SYNCHRONIZATION, State.SCHEDULING,
    State.WAIT, State.IO, State.GROUP_COMMUNICATION, State.MEMORY_TRANSFER, State.SEND_RECEIVE,
)  # fmt: skip
KINDS: list[Callable[[Program], int | None]] = []


class Program:
    """Lines of a trace (ranks, threads or streams) that pass through states. seed: of what the program does; noise: of
    how long its bursts take."""

    def __init__(self, seed: int, noise: int, lines: int = 4) -> None:
        self.random, self.noise = np.random.default_rng(seed), np.random.default_rng([seed, noise])
        self.set_up(lines)
        self.scale = float(self.random.choice([0.3, 1, 3, 10]))
        self.jitter = float(self.random.choice([0, 0.01, 0.04]))
        self.skew = float(self.random.choice([0, 0.05, 0.15]))
        self.threads = False  # all lines are threads of one rank
        self.silent: tuple[int, ...] = ()  # lines of which nothing was recorded

    def set_up(self, lines: int) -> None:
        """Add this number of lines, which all begin now."""
        self.now = np.zeros(lines)
        self.rows: list[list[tuple[float, float, int]]] = [[] for _ in range(lines)]
        self.slow = np.arange(lines) / max(lines - 1, 1)

    def number(self, low: int, high: int) -> int:
        """A random number, both ends included."""
        return int(self.random.integers(low, high + 1))

    def compute(self, us: float, line: int | None = None, *, jitter: float | None = None) -> None:
        """Let all lines, or one, run for about this time."""
        jitter = self.jitter if jitter is None else jitter
        varies = np.maximum(1 + jitter * self.noise.standard_normal(len(self.now)), 0.1)
        length = us * self.scale * varies * (1 + self.skew * self.slow)
        self._until(self.now + np.where(np.arange(len(self.now)) == line, length, 0) if line is not None
                    else self.now + length, RUN)  # fmt: skip

    def _until(self, end: np.ndarray, state: int) -> None:
        for line, (first, last) in enumerate(zip(self.now, end, strict=True)):
            if last > first:
                self.rows[line].append((first, last, int(state)))
        self.now = np.maximum(self.now, end)

    def alone(self, us: float, state: int) -> None:
        """Put each line into a state for this time."""
        self._until(self.now + us, state)

    def together(self, state: int = GROUP, us: float = 4) -> None:
        """All lines wait for the last one."""
        self._until(np.full(len(self.now), self.now.max() + us), state)

    def halo(self, number: int = 2) -> None:
        """An exchange with both neighbours: posts with short bursts between them, and a wait."""
        for _ in range(number):
            self.alone(0.3, SEND)
            self._until(self.now + 0.2, RUN)
        near = np.maximum(np.roll(self.now, 1), np.roll(self.now, -1))
        self._until(np.maximum(self.now, near) + 3, ALL)

    def swap(self, by: int = 1) -> None:
        """An exchange with one neighbour."""
        self._until(np.maximum(self.now, np.roll(self.now, by)) + 3, EXCHANGE)

    def region(self, us: float, jitter: float = 0.05) -> None:
        """Threads are forked, run, and wait for each other; between regions the first one runs alone."""
        end = self.now.max() + 5
        self._until(np.where(np.arange(len(self.now)) == 0, end, self.now), FORK)
        self._until(np.full(len(self.now), end), IDLE)
        self.compute(us, jitter=jitter)
        self.together(SYNC, 2)

    def kernel(self, us: float) -> None:
        """The first line launches what the second one runs, and waits for it."""
        self._until(self.now + np.array([4.0, 0.0]), FORK)
        self._until(np.array([self.now[0], self.now[0]]), IDLE)
        self.compute(us, 1)
        self._until(np.array([self.now[1] + 2, self.now[1]]), SYNC)

    def written(self, folder: Path) -> Path:
        """The trace as a .prv file."""
        lines = []
        for number, rows in enumerate(self.rows):
            where = f"1:1:{number + 1}" if self.threads else f"1:{number + 1}:1"
            for first, last, state in rows if number not in self.silent else ():
                begin, end = round(first * 1000), round(last * 1000)
                if end > begin:
                    lines.append((begin, f"1:{number + 1}:{where}:{begin}:{end}:{state}"))
        count, last = len(self.rows), round(float(self.now.max()) * 1000)
        tasks = f"1({count}:1)" if self.threads else f"{count}({','.join(['1:1'] * count)})"
        head = f"#Paraver (01/01/2026 at 00:00):{last}_ns:1({count}):1:{tasks}"
        path = folder / "states.prv"
        path.write_text("\n".join([head, *(line for _, line in sorted(lines))]) + "\n")
        return path


def kind(made: Callable[[Program], int | None]) -> Callable[[Program], int | None]:
    """Put a program among KINDS."""
    KINDS.append(made)
    return made


@kind
def uniform(p):
    n = p.number(40, 200)
    for _ in range(n):
        p.compute(300)
        p.halo()
    return n


@kind
def uniform_many(p):
    n = p.number(800, 2000)
    for _ in range(n):
        p.compute(60)
        p.together()
    return n


@kind
def jitter_of_20_percent(p):
    n = p.number(40, 120)
    for _ in range(n):
        p.compute(300, jitter=0.2)
        p.halo()
    return n


@kind
def jitter_and_two_kinds(p):
    n = p.number(30, 90)
    for _ in range(n):
        p.compute(400, jitter=0.2)
        p.halo()
        p.compute(150, jitter=0.2)
        p.together()
    return n


@kind
def two_stages(p):
    """Both end with an exchange; the first computes more."""
    n = p.number(30, 90)
    for _ in range(n):
        p.compute(500)
        p.halo()
        p.compute(140)
        p.halo()
    return n


@kind
def three_stages(p):
    n = p.number(25, 70)
    for _ in range(n):
        for us in (450, 120, 220):
            p.compute(us)
            p.swap()
        p.compute(40)
        p.together()
    return n


@kind
def five_equal_and_one_long(p):
    n, k = p.number(15, 50), p.number(4, 7)
    for _ in range(n):
        for _ in range(k):
            p.compute(15)
            p.halo()
        p.compute(1500)
        p.halo()
    return n


@kind
def branches_in_turn(p):
    """Now this neighbour, now that one; a reduction ends each pass."""
    n = p.number(30, 90)
    for k in range(n):
        p.compute(220)
        p.swap(1 if k % 2 else -1)
        p.compute(60)
        p.together()
    return n


@kind
def nested(p):
    n, k = p.number(10, 30), p.number(4, 9)
    for _ in range(n):
        p.compute(700)
        p.together()
        for _ in range(k):
            p.compute(110)
            p.halo()
    return n


@kind
def nested_until_it_converges(p):
    n = p.number(12, 30)
    for _ in range(n):
        p.compute(300)
        p.together(GROUP, 12)
        for _ in range(p.number(3, 12)):
            p.compute(50)
            p.halo()
    return n


@kind
def nested_in_both(p):
    n = p.number(6, 14)
    for _ in range(n):
        p.compute(400)
        p.together()
        for _ in range(4):
            for _ in range(6):
                p.compute(60)
                p.halo()
            p.compute(90)
            p.together()
    return n


@kind
def imbalance(p):
    n = p.number(30, 100)
    p.skew = 0.8
    for _ in range(n):
        p.compute(300)
        p.halo()
        p.compute(100)
        p.together()
    return n


@kind
def imbalance_that_moves(p):
    n = p.number(30, 100)
    for k in range(n):
        p.compute(200)
        p.compute(150, k % len(p.now))
        p.together()
    return n


@kind
def start_and_end(p):
    n = p.number(25, 80)
    for us in (9000, 2500, 6000):
        p.compute(us)
        p.together()
    for _ in range(n):
        p.compute(260)
        p.halo()
        p.compute(90)
        p.together()
    p.compute(4000)
    p.alone(2000, FILES)
    p.compute(1500)
    return n


@kind
def long_start(p):
    """It takes longer than the loop."""
    n = p.number(20, 50)
    for _ in range(p.number(4, 8)):
        p.compute(p.number(2000, 9000))
        p.together(p.random.choice([GROUP, SYNC, FILES]))
    for _ in range(n):
        p.compute(300)
        p.halo()
    return n


@kind
def norm_every_tenth(p):
    e = p.number(5, 12)
    n = e * p.number(5, 15)
    for k in range(1, n + 1):
        p.compute(180)
        p.halo()
        if k % e == 0:
            p.compute(20)
            p.together()
    return n


@kind
def files_now_and_then(p):
    e = p.number(5, 10)
    n = e * p.number(5, 12)
    for k in range(1, n + 1):
        p.compute(300)
        p.halo()
        p.compute(80)
        p.together()
        if k % e == 0:
            p.alone(60, FILES)
    return n


@kind
def team_of_threads(p):
    n = p.number(30, 120)
    p.threads = True
    for _ in range(n):
        p.compute(60, 0)
        p.region(400)
    return n


@kind
def team_with_regions(p):
    n = p.number(20, 70)
    p.threads = True
    p.set_up(8)
    for _ in range(n):
        for us in (400, 120, 230):
            p.compute(25, 0)
            p.region(us)
    return n


@kind
def team_of_uneven_threads(p):
    n = p.number(30, 90)
    p.threads, p.skew = True, 0.5
    for _ in range(n):
        p.compute(40, 0)
        p.region(300, 0.15)
        p.compute(120, 0)
        p.region(90, 0.15)
    return n


@kind
def accelerator(p):
    n = p.number(30, 120)
    p.threads = True
    p.set_up(2)
    for _ in range(n):
        p.compute(80, 0)
        p.alone(20, MEMORY)
        p.kernel(400)
    return n


@kind
def accelerator_with_kernels(p):
    n = p.number(20, 60)
    p.threads = True
    p.set_up(2)
    for _ in range(n):
        p.compute(150, 0)
        for us in (500, 130, 260):
            p.kernel(us)
        p.alone(40, MEMORY)
    return n


@kind
def stream_alone(p):
    """Kernels with nothing between them."""
    n = p.number(30, 90)
    p.set_up(1)
    for _ in range(n):
        for us, gap in ((400, 15), (120, 90)):
            p.compute(us)
            p.now = p.now + gap * p.scale
    return n


@kind
def missing_ranks(p):
    n = p.number(30, 80)
    p.set_up(8)
    p.silent = (1, 4, 6)
    for _ in range(n):
        p.compute(280)
        p.halo()
        p.compute(100)
        p.together()
    return n


@kind
def flushes(p):
    """The tracer writes its buffers a few times, on all lines at once."""
    n = p.number(40, 90)
    at = set(p.random.choice(np.arange(5, n - 5), 3, replace=False).tolist())
    for k in range(n):
        p.compute(300)
        if k in at:
            p.alone(2500 * p.scale, State.OTHERS)
        p.halo()
        p.compute(120)
        p.together()
    return n


@kind
def three_iterations(p):
    p.together(GROUP, 20)
    for _ in range(3):
        p.compute(9000)
        p.halo()
        p.compute(5000)
        p.together(GROUP, 40)
        p.compute(700)
        p.together(SYNC, 10)
    return 3


@kind
def five_iterations(p):
    n = p.number(4, 7)
    for _ in range(n):
        p.compute(4000)
        p.swap()
        p.compute(2500)
        p.together()
    return n


@kind
def drift(p):
    n, more = p.number(30, 80), p.number(3, 8)
    for k in range(n):
        p.compute(150 + more * k)
        p.halo()
        p.together()
    return n


@kind
def two_phases(p):
    """The second one is longer."""
    n = p.number(40, 80)
    for _ in range(p.number(12, 25)):
        p.compute(250)
        p.halo()
    p.compute(3000)
    for _ in range(n):
        p.compute(300)
        p.together()
        p.compute(200)
        p.together(WAIT)
    return n


@kind
def wavefronts(p):
    n = p.number(12, 40)
    for _ in range(n):
        for step in (1, -1):
            for line in range(len(p.now))[::step]:
                p.compute(40, line)
                after = p.now.copy()
                if 0 <= line + step < len(after):
                    after[line + step] = max(after[line + step], after[line] + 3)
                p._until(after, WAIT)
        p.compute(100)
        p.together()
    return n


@kind
def transforms(p):
    n = p.number(10, 60)
    for _ in range(n):
        p.compute(500)
        p.together(GROUP, 60)
        p.compute(200)
        p.together(GROUP, 60)
        p.compute(350)
        p.halo()
    return n


@kind
def v_cycles(p):
    n, top = p.number(12, 40), p.number(2, 3)

    def cycle(level):
        p.compute(20 * 4**level)
        p.halo()
        if level:
            cycle(level - 1)
        p.compute(10 * 4**level)
        p.halo()

    for _ in range(n):
        cycle(top)
        p.together()
    return n


@kind
def conjugate_gradients(p):
    n, k = p.number(8, 20), p.number(8, 20)
    for _ in range(n):
        p.compute(300)
        p.halo()
        p.halo()
        for _ in range(k):
            p.compute(50)
            p.halo()
            p.compute(20)
            p.together()
        p.compute(80)
        p.together(SYNC)
    return n


@kind
def overlap(p):
    n = p.number(30, 90)
    for _ in range(n):
        p.alone(0.4, SEND)
        p.compute(350)
        p.alone(0.6, ALL)
        p.compute(60)
        p.together(SYNC, 1)
    return n


@kind
def only_reductions(p):
    n = p.number(300, 900)
    for _ in range(n):
        p.compute(20)
        p.together()
    return n


@kind
def one_rank_is_stopped(p):
    """Something else has its CPU now and then."""
    n = p.number(40, 100)
    at = set(p.random.choice(np.arange(3, n - 3), 4, replace=False).tolist())
    for k in range(n):
        p.compute(250)
        if k in at:
            p.compute(900, 1)
        p.halo()
        p.compute(90)
        p.together()
    return n


@kind
def many_ranks(p):
    n = p.number(20, 50)
    p.set_up(64)
    for _ in range(n):
        p.compute(400, jitter=0.08)
        p.halo()
        p.compute(120, jitter=0.08)
        p.together()
    return n


@kind
def partners_at_random(p):
    n = p.number(30, 80)
    for _ in range(n):
        p.compute(260)
        p.swap(p.number(1, 3))
        p.compute(90)
        p.together()
    return n


@kind
def nothing_repeats(p):
    for _ in range(30):
        p.compute(5 + p.random.exponential(600))
        p.together(p.random.choice([GROUP, WAIT, SYNC, FILES]), 5 + p.random.exponential(200))
    return None


@kind
def phases_without_a_loop(p):
    for us, state in ((9000, GROUP), (300, FILES), (2500, WAIT), (14_000, GROUP), (700, SYNC), (4000, FILES)):
        p.compute(us)
        p.together(state, 300)
    p.compute(2000)
    return None


def written(number: int, seed: int, folder: Path, noise: int = 0) -> tuple[Path, int | None]:
    """The trace of a kind, and the iterations of its main loop."""
    program = Program(1000 * seed + number, noise)
    count = KINDS[number](program)
    return program.written(folder), count
