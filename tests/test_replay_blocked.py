"""What a replay that cannot go on says, and the way out that it names."""

import pytest
from memory_trace import MemoryTrace

from analyzer.errors import TracelibError
from analyzer.replay import Machine, program_of, simulate

WORLD = {"comm": 0, "sent": 8, "received": 8}
SEND, RECEIVE = ("MPI_Send", "MPI_Recv")


def each_sends_first():
    """Right only where MPI buffers small messages: both send, then both receive."""
    rows = []
    for peer in (1, 0):
        more = WORLD | {"peer": peer, "tag": 1}
        rows.append([(SEND, 5, 6, more), (RECEIVE, 7, 8, more)])
    return program_of(MemoryTrace(rows))


def test_sends_that_wait_for_each_other_need_an_eager_limit():
    with pytest.raises(TracelibError, match="rank 0 in a send to rank 1, tag 1") as caught:
        simulate([each_sends_first()], Machine.ideal())
    assert "--eager 32k" in caught.value.hint
    assert simulate([each_sends_first()], Machine(eager_limit=1024)).end_ns == 6


def test_those_that_wait_whatever_the_limit_do_not():
    """The message is larger than the limit; or nobody sends."""
    with pytest.raises(TracelibError) as caught:
        simulate([each_sends_first()], Machine(eager_limit=8))
    assert "--eager" not in caught.value.hint
    receives = MemoryTrace([[(RECEIVE, 7, 8, WORLD | {"peer": 1, "tag": 1})], []])
    with pytest.raises(TracelibError) as caught:
        simulate([program_of(receives)], Machine.ideal())
    assert "--eager" not in caught.value.hint
