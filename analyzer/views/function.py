"""A function of a view with its parameters, and the names of functions.

The tables translate Paraver's names of functions, levels, operations and statistics to the names of this package.

Source: names of Paraver's kernel (semantic functions of threads, levels, composition, derived windows; statistics).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from analyzer.errors import TracelibError

THREAD = {
    "State As Is": "state as is", "Useful": "useful", "State Sign": "state sign", "Given State": "given state",
    "In State": "in state", "Not In State": "not in state", "State Record Dur.": "state record duration",
    "Last Evt Type": "last event type", "Last Evt Val": "last event value", "Next Evt Type": "next event type",
    "Next Evt Val": "next event value", "Avg Next Evt Val": "average next event value",
    "Avg Last Evt Val": "average last event value", "Given Evt Val": "given event value",
    "In Evt Val": "in event value", "Not In Evt Val": "not in event value",
    "Int. Between Evt": "interval between events", "Last Tag": "last tag",
    "Send Bytes in Transit": "bytes in flight", "Send Messages in Transit": "messages in flight",
    "Send BandWidth": "send bandwidth", "Recv Bytes in Transit": "bytes coming in",
    "Recv Messages in Transit": "messages coming in", "Recv BandWidth": "receive bandwidth",
    "Recv Negative Messages": "negative messages", "Recv Negative Bytes": "negative bytes",
    "Event Bytes": "event bytes", "Event Sent Bytes": "event sent bytes", "Comm Partner": "last destination",
    "Comm Recv. Partner": "next source",
    "Application ID": "application id", "TaskID": "task id", "Task ID": "task id", "Thread ID": "thread number",
    "Node ID": "node id", "Cpu ID": "cpu id",
}  # fmt: skip
OF_STATES = "State Record Dur."
"""Thread function whose parameters are states. Without parameters its state is Running."""
TIMES = (OF_STATES, "Int. Between Evt")
"""Thread functions whose values are times in the unit of the window."""
BANDWIDTHS = ("Send BandWidth", "Recv BandWidth")
"""Thread functions whose values are bytes per unit of time, divided by their parameter."""
AVERAGES = ("Avg Next Evt Val", "Avg Last Evt Val")
"""Thread functions whose values are per unit of time, multiplied by their parameter."""
CHOOSE = ("Given State", "In State", "Not In State", "Given Evt Val", "In Evt Val", "Not In Evt Val")
"""Thread functions whose parameters are the values to choose."""

LEVEL = {
    "Adding": "adding", "Adding Sign": "adding sign", "Average": "average", "Maximum": "maximum", "Minimum": "minimum",
    "Changed value": "changed value",
}  # fmt: skip
THREAD_I = "Thread i"
OF_CPU = "Active Thd"
"""Function of the level CPU, which windows have by default: the value of the thread that runs on the CPU."""

LEVELS = {
    "thread": "thread", "task": "task", "appl": "application", "cpu": "cpu", "node": "node", "system": "system",
}  # fmt: skip

COMPOSE = {
    "As Is": (), "Sign": ("absolute", "sign"), "1-Sign": ("absolute", "1-sign"), "Mod": ("module",),
    "Mod+1": ("module+1",), "Div": ("divide",), "Prod": ("product",), "Add": ("add",), "Subs": ("subtract",),
    "Select Range": ("select range",), "Is In Range": ("is in range",), "Select Range [)": ("select range [)",),
    "Is In Range [)": ("is in range [)",), "Is Equal": ("is equal",), "Is Equal (Sign)": ("is equal (sign)",),
    "Stacked Val": ("stacked value",), "Nesting level": ("nesting level",), "Delta": ("delta",), "Abs": ("absolute",),
    "In Stacked Val": ("stacked value", "is equal"), "Enumerate": ("enumerate",), "Accumulate": ("accumulate",),
    "Burst Time": ("interval time",), "Floor": ("floor",), "Ceil": ("ceil",), "Round": ("round",),
    "Join Bursts": ("join bursts",),
}  # fmt: skip
"""Compose functions by Paraver's name, as a chain of functions; the last one of the chain gets the parameters.

Paraver's sign is 1 for every value but 0, so an absolute value comes first.
"""
IN_UNITS = ("Burst Time",)
"""Compose functions whose values are times in the unit of the window."""
RANGES = ("Select Range", "Is In Range", "Select Range [)", "Is In Range [)")
"""Compose functions whose parameters are a maximum and a minimum."""

OPERATIONS = {
    "add": "add", "product": "product", "substract": "subtract", "divide": "divide", "maximum": "maximum",
    "minimum": "minimum", "different": "different",
}  # fmt: skip

STATISTICS = {
    "Time": "time", "% Time": "% time", "% Time Not Zero": "% time not zero", "% Window Time": "% window time",
    "# Bursts": "bursts", "# Bursts != 0": "bursts not zero", "% # Bursts": "% bursts", "Integral": "integral",
    "Average value": "average value", "Average value != 0": "average value not zero", "Maximum": "maximum",
    "Minimum": "minimum", "Average Burst Time": "average burst time", "Stdev Burst Time": "deviation of burst time",
    "Average per Burst": "average per burst", "Average per Burst != 0": "average per burst not zero",
    "Sum bursts": "sum of bursts", "# Sends": "sends", "#Sends": "sends", "# Receives": "receives",
    "#Receives": "receives", "Bytes sent": "bytes sent", "Bytes received": "bytes received",
    "Average bytes sent": "average bytes sent", "Average bytes received": "average bytes received",
    "Minimum bytes sent": "minimum bytes sent", "Minimum bytes received": "minimum bytes received",
    "Maximum bytes sent": "maximum bytes sent", "Maximum bytes received": "maximum bytes received",
}  # fmt: skip

_ALONE = {theirs: way[0] for theirs, way in COMPOSE.items() if len(way) == 1}
OURS = {**STATISTICS, **LEVEL, **_ALONE, **THREAD}
"""Names of this package by Paraver's names, for statistics and functions that one name can stand for."""
ROWS = {**LEVELS, "ptask": "application", "application": "application"}
"""Levels by Paraver's names, including Paraver's other names for rows of a window."""

US = {
    "Nanoseconds": 1e-3, "Microseconds": 1.0, "Milliseconds": 1e3, "Seconds": 1e6, "Minutes": 6e7, "Hours": 3.6e9,
    "Days": 8.64e10,
}  # fmt: skip
"""Number of microseconds in each unit of time."""

SHOWN_ONLY = (
    "position_x", "position_y", "width", "height", "comm_lines_enabled", "flags_enabled", "noncolor_mode", "color_mode",
    "gradient_function", "custom_color_enabled", "custom_background_as_zero", "custom_palette", "custom_color_palette",
    "semantic_scale_min_at_zero", "maximum_y", "minimum_y", "compute_y_max", "number_of_row", "open", "drawmode",
    "pos_to_disp", "pos_of_x_scale", "pos_of_y_scale", "click_options", "click_info", "expanded", "analyzer_executed",
    "analyzer_info", "send_icon_enabled", "recv_icon_enabled", "scrollbar",
    "drawmode_rows", "pixel_size", "labels_to_draw", "object_axis_position", "synchronize", "punctual_color_window",
)  # fmt: skip
"""Settings of a window that change only its picture. In files each has the prefix `window_`."""
HISTOGRAM_SHOWN_ONLY = (
    "Type", "Name", "X", "Y", "Width", "Height", "Accumulator", "CalculateAll", "HideCols", "HorizVert", "Color",
    "SemanticColor", "Zoom", "SortCols", "SortCriteria", "SortReverse", "ComputeYScaleZero", "UseFixedDelta",
    "NumColumns", "ComputeGradient", "MinimumGradient", "MaximumGradient", "DrawModeObjects", "DrawModeColumns",
    "PixelSize", "ColorMode", "CodeColor", "ShowOnlyTotals", "ShortHeaderLabels", "TextMode", "Expanded",
    "ShowWindows",
    "num_columns", "scientific_notation", "num_decimals", "thousandsep", "units", "OnlyTotals", "Synchronize",
)  # fmt: skip

ALIASES = "cfg4d"
"""Prefix of settings that rename functions and values for display."""
FUNCTIONS = (
    *LEVELS, "workload", "from_obj", "to_obj", "tag_msg", "size_msg", "bw_msg", "evt_type", "evt_value",
)  # fmt: skip
"""Settings of a window that name a function: the levels, and the filters."""
EARLIER = {"topcompose": "topcompose1", "compose1": "topcompose1", "compose2": "topcompose2"}
"""Settings for compositions in earlier versions, with their present names.

In these versions the name of a level alone stood for the composition of the level.
"""
COMPOSED = (*(f"compose_{level}" for level in (*LEVELS, "workload")), "topcompose1", "topcompose2")
FILTERED = (*FUNCTIONS[-7:], "evt_type_label", "evt_value_label")
"""Settings that a line of a filter may belong to. Labels are stored beside the numbers."""


@dataclass(frozen=True)
class Function:
    """A function of a view: its name, as in docs/views.md, and its parameters; or a user's function."""

    name: str
    values: tuple[Any, ...] = ()
    user: Callable[..., Any] | None = field(default=None, compare=False)

    @classmethod
    def parse(cls, given: Any) -> Function:
        """Make a Function from a name (of this package or Paraver's), a sequence of name and parameters, or a callable.

        Raises:
            TracelibError: `given` is none of these.
        """
        if isinstance(given, Function):
            return given
        if isinstance(given, str):
            return cls(OURS.get(given, given))
        if callable(given):
            return cls(getattr(given, "__name__", "function"), user=given)
        if isinstance(given, Sequence) and given and isinstance(given[0], str):
            return cls(OURS.get(given[0], given[0]), tuple(given[1:]))
        raise TracelibError(f"{given!r} names no function of a view", 'give a name, or ["name", parameters]', 2)

    def number(self, index: int, default: float) -> float:
        """Return a parameter as a number, or `default` if fewer parameters are given.

        Raises:
            TracelibError: The parameter is not a number.
        """
        if index >= len(self.values):
            return default
        value = self.values[index]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TracelibError(f"{self.name!r}: {value!r} is not a number", "", 2)
        return float(value)

    def found(self, among: dict[str, Any], what: str) -> Any:
        """Return the entry of a table under the function's name. `what` is the word for an entry in messages.

        Raises:
            TracelibError: There is no such entry. The hint has similar names.
        """
        if self.name not in among:
            alike = get_close_matches(self.name, list(among), 3)
            hint = f"did you mean {', '.join(map(repr, alike))}?" if alike else f"there are {', '.join(among)}"
            raise TracelibError(f"there is no {what} {self.name!r}", hint, 2)
        return among[self.name]


def functions_of(given: Any) -> tuple[Function, ...]:
    """Return a chain of functions from one function or a sequence of functions. None: no function.

    A sequence of a name and numbers is one function with its parameters.
    """
    if isinstance(given, list | tuple):
        is_one = len(given) > 1 and isinstance(given[0], str) and all(isinstance(v, int | float) for v in given[1:])
        if not is_one:
            return tuple(Function.parse(one) for one in given)
    return () if given is None else (Function.parse(given),)
