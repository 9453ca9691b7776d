"""The labels beside a Paraver trace (.pcf): names and colours of states, names of event types and values.

Source: Paraver configuration file; options and colours are Extrae's, but for the last two states, which are ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from analyzer.trace import Trace
from analyzer.trace.paraver import MPI_TYPES, OF_REPLAYS, STATE_LABELS, TYPE_LABELS, EventType, call_labels
from analyzer.whole import whole_file

_OPTIONS = """\
DEFAULT_OPTIONS

LEVEL               THREAD
UNITS               NANOSEC
LOOK_BACK           100
SPEED               1
FLAG_ICONS          ENABLED
NUM_OF_STATE_COLORS 1000
YMAX_SCALE          37


DEFAULT_SEMANTIC

THREAD_FUNC         State As Is

"""

_COLORS = """
117,195,255 0,0,255 255,255,255 255,0,0 255,0,174 179,0,0 0,255,0 255,255,0 235,0,0 0,162,0 255,0,255
100,100,177 172,174,41 255,144,26 2,255,177 192,224,0 66,66,66 255,0,96 169,169,169 169,0,0 0,109,255
200,61,68 200,66,0 0,41,0 139,121,177 116,116,116 200,50,89 255,171,98 0,68,189 52,43,0 255,46,0 100,216,32
40,160,160 150,90,30 90,90,90 130,130,130
"""

_LARGEST_VALUE = 2**31 - 1  # Paraver loses labels of larger values


def _gradient(event_type: int) -> int:
    """The first column: Extrae's convention for what colours a type."""
    if event_type in MPI_TYPES:
        return 9
    if EventType.COLLECTIVE_SEND_SIZE <= event_type <= EventType.COLLECTIVE_COMMUNICATOR:
        return 1
    if 40000000 <= event_type < 41000000:
        return 6
    return 7 if 41999999 <= event_type < 48000000 else 0


def _one_line(label: str) -> str:
    return " ".join(label.split())


def _states(labels: dict[int, str]) -> Iterator[str]:
    yield "\nSTATES\n"
    yield from (f"{state:<4} {label}\n" for state, label in labels.items())
    yield "\n\nSTATES_COLOR\n"
    yield from (f"{state:<4} {{{color}}}\n" for state, color in zip(labels, _COLORS.split(), strict=True))


def _event_type(event_type: int, label: str, values: dict[int, str]) -> Iterator[str]:
    yield f"\n\nEVENT_TYPE\n{_gradient(event_type)}    {event_type}    {_one_line(label)}\n"
    shown = {value: text for value, text in values.items() if -_LARGEST_VALUE <= value <= _LARGEST_VALUE}
    if shown:
        yield "VALUES\n"
        yield from (f"{value}      {_one_line(text)}\n" for value, text in sorted(shown.items()))


def write_pcf(trace: Trace, path: str | os.PathLike[str], types: Iterable[int] = ()) -> None:
    """Write the .pcf of a trace: all states, our own event types, the MPI procedures it knows, and its own labels.

    A type that the trace labels itself keeps those labels. types: those of the events in the .prv; one that nobody
    labels, as a program's own events may be, is called after its number. Raises TracelibError where the file cannot be
    written.
    """
    labels: dict[int, tuple[str, dict[int, str]]] = {type_: (f"Event {type_}", {}) for type_ in types}
    labels |= TYPE_LABELS | call_labels(trace.procedures) | trace.event_labels
    with whole_file(path) as file:
        for text in (_OPTIONS, *_states(STATE_LABELS | (OF_REPLAYS if trace.origin.predicted else {}))):
            file.write(text.encode())
        for event_type, (label, values) in sorted(labels.items()):
            if event_type <= _LARGEST_VALUE:
                file.write("".join(_event_type(event_type, label, values)).encode())
