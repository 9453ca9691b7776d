"""Runs with thousands of threads: what a replay takes for each of them does not depend on how many there are."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import SELF, call, request, write_run

from analyzer.machine.description import Machine
from analyzer.opening import open_trace
from analyzer.operations.program import _by_thread, program_of
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.program.operation import OP, OperationFlag, OperationKind
from analyzer.replay.simulate import simulate
from tracelib.schema import RequestKind


def program_with(folder, threads):
    """Threads that live one after the other; each sends itself a message that it has waited for since before."""
    calls, requests = [call("MPI_Init", 0, 10)], []
    for thread in range(1, threads):
        at = 100 * thread
        same = {"comm": SELF, "peer": 0, "tag": thread, "thread": thread}
        calls += [
            call("MPI_Irecv", at, at + 10, **same),
            call("MPI_Send", at + 20, at + 30, sent=8, **same),
            call("MPI_Wait", at + 40, at + 50, received=8, thread=thread),
        ]
        requests.append(request(RequestKind.RECV_DONE, at, at + 50, bytes=8, **same))
    calls.append(call("MPI_Finalize", 100 * threads, 100 * threads + 10))
    path = write_run(folder, [{"calls": calls, "requests": requests}])
    trace = open_trace(str(path), Team())
    try:
        return program_of(trace, Team()), trace.duration_ns
    finally:
        trace.close()


@pytest.mark.parametrize("threads", [3, 400])
def test_each_thread_has_room_for_its_own_requests(tmp_path, threads):
    """Each thread has room for one request. A rank numbers the requests of all its threads: each had room for all."""
    program, duration = program_with(tmp_path, threads)
    assert len(program.slots) == threads
    assert program.slots.tolist() == [0] + [1] * (threads - 1)
    own = program.ops["request"][program.ops["flags"] & OperationFlag.SHARED == 0]
    assert set(own.tolist()) == {-1, 0}
    assert 0 < simulate([program], Machine()).end_ns <= duration


def seconds(numbers):
    """Return the CPU time of a replay in which a thread signals `numbers` semaphores, and then waits for each."""
    ops = np.zeros(2 * numbers, OP)
    ops["peer"] = ops["request"] = -1
    ops["kind"][:numbers], ops["kind"][numbers:] = OperationKind.SEM_SIGNAL, OperationKind.SEM_WAIT
    ops["tag"] = np.tile(np.arange(numbers), 2)
    ops["burst"] = 1
    program = Program.from_streams([ops])
    taken = []
    for _ in range(3):
        began = process_time()
        prediction = simulate([program], Machine())
        taken.append(process_time() - began)
        assert prediction.end_ns == 2 * numbers
    return min(taken)


def test_semaphores_are_found_at_once():
    """Four times as many take four times as long, where a list of them takes sixteen times."""
    few, many = seconds(20_000), seconds(80_000)
    assert many < 10 * few + 0.05


@given(st.lists(st.integers(0, 5), max_size=20))
def test_operations_are_told_apart_by_thread(threads):
    """Also in a window without operations: the operations of its calls may all be behind it."""
    block = np.zeros(len(threads), OP)
    block["block"], block["burst"] = threads, np.arange(len(threads))
    found = {thread: mine["burst"].tolist() for thread, mine in _by_thread(block)}
    assert found == {thread: [k for k, of in enumerate(threads) if of == thread] for thread in sorted(set(threads))}
