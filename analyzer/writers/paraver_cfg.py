"""A Paraver configuration (.cfg): one window that shows an event type over time.

Source: the tags that Paraver's kernel reads and writes (version 3.4 of its configuration files).
"""

from __future__ import annotations

import os

from analyzer.whole import whole_file

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
    """Write a .cfg whose window shows the last value of an event type of each thread, in colours of 0 to `largest`.

    Raises TracelibError where the file cannot be written.
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
