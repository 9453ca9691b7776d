"""Traces that hold states and no MPI calls: of ranks, of the threads of a team, of an accelerator."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.levels.iteration_text import words
from analyzer.structure.levels.run_structure import IterationMethod, structure
from analyzer.structure.signals import signals
from analyzer.trace import State

IDLE, RUN, WAIT, SYNC, FORK, FILES, GROUP, MEMORY = (
    State.IDLE, State.RUNNING, State.WAITING_MESSAGE, State.SYNCHRONIZATION, State.SCHEDULING, State.IO,
    State.GROUP_COMMUNICATION, State.MEMORY_TRANSFER,
)  # fmt: skip


def written(folder, threads):
    """A .prv file. threads: of each rank, of each thread its (us, state) one after the other."""
    rows = []
    for rank, of_rank in enumerate(threads, 1):
        for thread, states in enumerate(of_rank, 1):
            ends = np.cumsum([round(1000 * us) for us, _ in states])
            begins = [0, *ends[:-1]]
            rows += [
                (begin, f"1:{rank}:1:{rank}:{thread}:{begin}:{end}:{int(state)}")
                for begin, end, (_, state) in zip(begins, ends, states, strict=True)
                if state is not None
            ]
    last = max(int(line.split(":")[6]) for _, line in rows)
    teams = ",".join(f"{len(of_rank)}:1" for of_rank in threads)
    head = f"#Paraver (01/01/2026 at 00:00):{last}_ns:1({len(threads)}):1:{len(threads)}({teams})"
    path = folder / "states.prv"
    path.write_text("\n".join([head, *(line for _, line in sorted(rows, key=lambda row: row[0]))]) + "\n")
    return str(path)


def loop_in(folder, threads, method=IterationMethod.BOTH):
    trace = open_trace(written(folder, threads), matched=False)
    try:
        return structure(trace, Team(), method)
    finally:
        trace.close()


def ranks(states, number=4):
    """The same on all ranks, of one thread each."""
    return [[states] for _ in range(number)]


def test_a_square_wave(tmp_path):
    found = loop_in(tmp_path, ranks([(700, RUN), (300, WAIT)] * 50))
    assert found.main.count == 50 and found.main.iterations.period_ns == 1_000_000
    assert found.main.cost.efficiency == pytest.approx(0.7)
    assert found.main.iterations.body == "1 wait for messages"


def test_running_states_with_gaps_between_them(tmp_path):
    """As some accelerators are traced: nothing stands for the time between kernels."""
    assert loop_in(tmp_path, ranks([(400, RUN), (100, None)] * 60, 1)).main.count == 60


def test_a_loop_between_set_up_and_end(tmp_path):
    body = [(300, RUN), (60, WAIT), (100, RUN), (40, GROUP)]
    found = loop_in(tmp_path, ranks([(20_000, RUN), (500, GROUP), *body * 40, (9000, FILES), (4000, RUN)]))
    assert found.main.count == 40 and found.main.iterations.period_ns == pytest.approx(500_000, rel=0.001)


@pytest.mark.parametrize("grows", [0, 8])
def test_periods_that_vary(tmp_path, grows):
    """By 10 %, or from one to the next: each has its burst and its wait nevertheless."""
    rng = np.random.default_rng(1)
    states = [one for k in range(60) for one in ((abs(500 * rng.normal(1, 0.1)) + grows * k, RUN), (60, WAIT))]
    assert loop_in(tmp_path, ranks(states)).main.count == 60


def test_a_loop_inside_another_one(tmp_path):
    body = [(800, RUN), (100, GROUP), *[(150, RUN), (50, WAIT)] * 6]
    found = loop_in(tmp_path, ranks([(3000, RUN), *body * 12, (2000, RUN)]))
    assert found.main.count == 12 and [part.count for part in found.main.inside if part.iterations] == [6]


def test_one_long_computation_after_some_short_ones(tmp_path):
    assert loop_in(tmp_path, ranks([*[(20, RUN), (10, WAIT)] * 5, (900, RUN), (10, WAIT)] * 30)).main.count == 30


def test_a_team_of_threads(tmp_path):
    """The first thread forks and joins three regions a pass; the others run in these alone."""
    lengths = (400, 150, 250)
    first = [one for us in lengths for one in ((20, RUN), (5, FORK), (us, RUN), (15, SYNC))] * 35
    other = [one for us in lengths for one in ((20, IDLE), (5, FORK), (us - 10, RUN), (25, SYNC))] * 35
    assert loop_in(tmp_path, [[first, other, other]]).main.count == 35


def test_an_accelerator(tmp_path):
    host = [(80, RUN), (20, MEMORY), (500, SYNC), (30, MEMORY)] * 55
    device = [(110, IDLE), (480, RUN), (40, IDLE)] * 55
    assert loop_in(tmp_path, [[host, device]]).main.count == 55


@pytest.mark.parametrize("seed", range(6))
def test_states_at_random_are_no_loop(tmp_path, seed):
    threads = []
    for rank in range(4):
        rng = np.random.default_rng([seed, rank])
        states = [one for _ in range(60) for one in (
            (5 + rng.exponential(400), RUN), (5 + rng.exponential(200), rng.choice([WAIT, SYNC, GROUP, FILES])),
        )]  # fmt: skip
        threads.append([states])
    assert loop_in(tmp_path, threads).main is None


def test_signals_are_those_of_the_states(tmp_path):
    """As sections 3.3.1 and 3.3.2 of the thesis have them: how many run, and how long the bursts are that they are
    in."""
    path = written(tmp_path, [[[(6, RUN), (2, WAIT), (4, RUN), (4, GROUP)]], [[(2, WAIT), (6, RUN), (8, GROUP)]]])
    trace = open_trace(path, matched=False)
    found = {name: signal.values.tolist() for name, signal in signals(trace, Team(), samples=8).items()}
    trace.close()
    assert found["computing"] == [1, 2, 2, 1, 1, 1, 0, 0]
    assert found["bursts"] == [6000, 12_000, 12_000, 6000, 4000, 4000, 0, 0]
    assert found["p2p"] == [1, 0, 0, 1, 0, 0, 0, 0]
    assert found["collective"] == [0, 0, 0, 0, 1, 1, 2, 2]


def test_several_of_a_state_in_words():
    counted = Counter({"wait for messages": 3, "group communication": 2, "wait for links": 1})
    assert words(counted) == "3 waits for messages, 2 group communications, 1 wait for links"
