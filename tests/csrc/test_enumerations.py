"""Numbers that Python and C both write down say the same; all others are written once."""

from analyzer._kernels import lib
from analyzer._replay import lib as replay

from analyzer.machine.description import COLLECTIVE_NAMES
from analyzer.replay.simulate import _SPANS
from analyzer.trace.event_types import EventType
from analyzer.waits.kinds import WaitKind


def test_priority_records():
    assert lib.DIM_PRIORITY == EventType.PRIORITY


def test_kinds_of_waits():
    """Kinds of wait states that the kernel finds itself, or compares with."""
    kinds = (WaitKind.LATE_SENDER, WaitKind.WRONG_ORDER, WaitKind.LATE_RECEIVER, WaitKind.LATE_POST)
    assert kinds == (lib.WAITS_LATE_SENDER, lib.WAITS_WRONG_ORDER, lib.WAITS_LATE_RECEIVER, lib.WAITS_LATE_POST)


def test_times_of_a_policy():
    spans = ("slice", "context_switch", "busy_wait", "least_run")
    intervals = ("decay", "load", "settle")
    assert [getattr(replay, f"SPAN_{name.upper()}") for name in spans] == list(range(len(spans)))
    assert [getattr(replay, f"INTERVAL_{name.upper()}") for name in intervals] == list(range(replay.INTERVALS))
    assert tuple(f"{name}_ns" for name in (*spans, "tick", *intervals)) == _SPANS


def test_collectives():
    assert len(COLLECTIVE_NAMES) == replay.COLLECTIVES
