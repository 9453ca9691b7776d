"""Facts that only some sources have: empty unless a source has more, and the same in an annotated trace."""

from dataclasses import dataclass

import numpy as np
import pytest
from memory_trace import MemoryTrace

from analyzer.trace import EVENT, Counters, CpuWaits, Extra, Losses, Regions, TracerTime, extras
from analyzer.trace.annotated import Annotated

KINDS = [kind for kind in vars(extras).values() if isinstance(kind, type) and Extra in kind.__bases__]


@dataclass(frozen=True, kw_only=True)
class LostOnce(Losses):
    rank: int

    def lost_calls(self, rank):
        return int(rank == self.rank)


def test_nothing_is_said_where_nothing_is_known():
    trace = MemoryTrace([[]])
    assert trace.extra(Counters).known == () and list(trace.extra(Counters).counts(0)) == []
    assert len(trace.extra(CpuWaits).of(0)) == 0
    assert trace.extra(TracerTime).after_call_ns(0) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_needs_no_arguments_and_knows_itself(kind):
    assert kind().kind is kind


def test_what_a_source_says_is_found_by_its_kind():
    trace = MemoryTrace([[], []])
    trace.put(LostOnce((0,), rank=1), Regions(("solve",)))
    losses = trace.extra(Losses)
    assert (losses.missing, losses.lost_calls(0), losses.lost_calls(1), losses.dropped_calls(1)) == ((0,), 0, 1, 0)
    assert trace.extra(Regions).names == ("solve",)
    assert MemoryTrace([[]]).extra(Losses).missing == ()  # each trace has its own


def test_an_annotated_trace_says_the_same():
    trace = MemoryTrace([[]])
    trace.put(LostOnce((), rank=0))
    annotated = Annotated(trace, {}, lambda begin, end: np.zeros(0, EVENT))
    assert annotated.extra(Losses).lost_calls(0) == 1 and annotated.extra(Counters).known == ()
