"""Files beside a Paraver trace: labels (.pcf), names (.row), and a configuration (.cfg) that shows an event type.

The .pcf has names and colours of states, and names of event types and values. Source: Paraver configuration file;
options and colours are Extrae's, except for the last two states, which are tracelib's.

The .row has the names of CPUs, nodes and threads, each level with its true number of lines. Source: Paraver names file.

The .cfg has one window. Source: the tags that Paraver's kernel reads and writes (version 3.4 of its configuration
files).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from analyzer.atomic_file import whole_file
from analyzer.trace import Trace
from analyzer.trace.paraver import MPI_TYPES, OF_REPLAYS, STATE_LABELS, TYPE_LABELS, EventType, call_labels
from analyzer.writers.prv import application_of

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
    """Return the first column of an event type: Extrae's convention for the quantity that gives its colour."""
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
    """Write the .pcf file of a trace: labels of states, of tracelib's event types, of MPI procedures, and of the trace.

    Labels of the trace win over the others.

    Args:
        trace: The trace.
        path: The new file.
        types: Types of the events in the .prv file. A type without a label, such as one of the program, is named by its
            number.

    Raises:
        TracelibError: The file cannot be written.
    """
    labels: dict[int, tuple[str, dict[int, str]]] = {type_: (f"Event {type_}", {}) for type_ in types}
    labels |= TYPE_LABELS | call_labels(trace.procedures) | trace.event_labels
    with whole_file(path) as file:
        for text in (_OPTIONS, *_states(STATE_LABELS | (OF_REPLAYS if trace.origin.predicted else {}))):
            file.write(text.encode())
        for event_type, (label, values) in sorted(labels.items()):
            if event_type <= _LARGEST_VALUE:
                file.write("".join(_event_type(event_type, label, values)).encode())


def _level(name: str, labels: list[str]) -> str:
    return f"LEVEL {name} SIZE {len(labels)}\n" + "".join(f"{label}\n" for label in labels)


def _levels(trace: Trace) -> Iterator[str]:
    total = sum(trace.nodes.cpus)
    if total:
        nodes = [node for node, cpus in zip(trace.nodes.names, trace.nodes.cpus, strict=True) for _ in range(cpus)]
        width = len(str(total))
        yield _level("CPU", [f"{cpu:0{width}}.{node}" for cpu, node in enumerate(nodes, start=1)])
        yield _level("NODE", list(trace.nodes.names))
    columns = zip(*application_of(trace), trace.threads, strict=True)
    threads = [f"THREAD {a}.{task}.{n + 1}" for a, task, count in columns for n in range(count)]
    yield _level("THREAD", threads)


def write_row(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the .row file of a trace.

    Raises:
        TracelibError: The file cannot be written.
    """
    with whole_file(path) as file:
        file.write("\n".join(_levels(trace)).encode())


_THREAD_FUNCTION = "Last Evt Val"
_FUNCTIONS = {
    "cpu": "Active Thd",
    "appl": "Adding",
    "task": "Adding",
    "thread": _THREAD_FUNCTION,
    "node": "Adding",
    "system": "Adding",
    "workload": "Adding",
    "from_obj": "All",
    "to_obj": "All",
    "tag_msg": "All",
    "size_msg": "All",
    "bw_msg": "All",
    "evt_type": "=",
    "evt_value": "All",
}
_COMPOSED = ("cpu", "appl", "task", "thread", "node", "system", "workload")


def _set(values: dict[str, str]) -> str:
    return f"{{ {len(values)}, {{ {', '.join(f'{{{name}, {value}}}' for name, value in values.items())} }} }}"


def write_event_cfg(path: str | os.PathLike[str], name: str, event_type: int, largest: int) -> None:
    """Write a .cfg file whose window shows the last value of an event type in each thread.

    Args:
        path: The new file.
        name: Name of the window.
        event_type: The event type.
        largest: Largest value of the colour scale, which begins at 0.

    Raises:
        TracelibError: The file cannot be written.
    """
    compose = {f"compose_{level}": "As Is" for level in _COMPOSED} | {"topcompose1": "As Is", "topcompose2": "As Is"}
    rule = "#" * 80
    text = f"""\
#ParaverCFG
ConfigFile.Version: 3.4
ConfigFile.NumWindows: 1


{rule}
< NEW DISPLAYING WINDOW {name} >
{rule}
window_name {name}
window_type single
window_id 1
window_position_x 100
window_position_y 100
window_width 800
window_height 200
window_comm_lines_enabled false
window_flags_enabled false
window_noncolor_mode true
window_logical_filtered true
window_physical_filtered false
window_comm_fromto true
window_comm_tagsize true
window_comm_typeval true
window_units Microseconds
window_maximum_y {largest:.12f}
window_minimum_y 0.000000000000
window_compute_y_max false
window_level thread
window_scale_relative 1.000000000000
window_end_time_relative 1.000000000000
window_object appl {{ 1, {{ All }} }}
window_begin_time_relative 0.000000000000
window_open true
window_drawmode draw_maximum
window_drawmode_rows draw_maximum
window_pixel_size 1
window_labels_to_draw 1
window_selected_functions {_set(_FUNCTIONS)}
window_compose_functions {_set(compose)}
window_filter_module evt_type 1 {event_type}
window_filter_module evt_type_label 1 "{name}"
"""
    with whole_file(path) as file:
        file.write(text.encode())
