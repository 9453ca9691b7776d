"""Names of the values of a view whose values stand for states, MPI calls or regions."""

from __future__ import annotations

from typing import Any

from analyzer.trace import Trace
from analyzer.trace.event_types import EventType
from analyzer.trace.paraver import STATE_LABELS
from analyzer.views.labels import event_labels, type_numbers
from analyzer.views.lanes import Level
from analyzer.views.thread.intervals import call_names

_KEEP = ("as is", "select range", "select range [)", "stacked value", "is equal")
"""Compose functions that either keep a value or replace it by 0, so that names stay valid."""
_ONE_OF = ("maximum", "minimum")


def value_names(view: Any, trace: Trace) -> dict[int, str]:
    """Return the name of each value of a view. Empty: the values are plain numbers."""
    thread = getattr(view, "thread", None)
    if thread is None or thread.user or not _kept(view):
        return {}
    if thread.name in ("state as is", "given state"):
        return dict(STATE_LABELS)
    if thread.name == "call":
        return {0: "outside", **call_names(trace)}
    if thread.name in ("last event value", "next event value", "given event value") and view.filter.types:
        labels = event_labels(trace)
        names: dict[int, str] = {}
        for number in type_numbers(trace, view.filter.types).tolist():
            names |= {0: "outside"} if number == EventType.ITERATION else labels.get(number, ("", {}))[1]
        return names
    if thread.name in ("last event type", "next event type"):
        return {number: label for number, (label, _) in event_labels(trace).items()}
    return {}


def _kept(view: Any) -> bool:
    composes = [*view.compose2, *view.compose1, *(one for several in view.composes.values() for one in several)]
    levels = {Level.TASK: view.task, Level.APPLICATION: view.application, Level.NODE: view.node}
    through = [levels[level].name for level in levels if view.level != Level.THREAD]
    return all(one.name in _KEEP and not one.user for one in composes) and all(
        name in _ONE_OF or name.startswith("thread ") for name in through
    )
