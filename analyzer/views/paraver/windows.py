"""Windows of a Paraver configuration, turned into views."""

from __future__ import annotations

import re
from typing import Any

from analyzer.views import function as names
from analyzer.views.filters import Filter
from analyzer.views.lanes import CHAINS, Level
from analyzer.views.paraver.cfg_text import CfgSection, objects_of, parameters
from analyzer.views.view import Derived, View

_NONE, _NOTHING = (-1,), "-1"
"""An event type that no event has, and the text of a number that no message has."""
_MOST_TYPES = 10_000
_TIMES = ("begin_time", "end_time", "stop_time", "current_time", "scale")
"""Settings of the displayed time, in versions before relative times."""
_EARLIER_OBJECTS = "window_selected_objects"
_READ = (
    "name", "type", "id", "level", "object", "begin_time_relative", "end_time_relative", "factors", "operation",
    "identifiers", "selected_functions", "compose_functions", "semantic_module", "filter_module", "logical_filtered",
    "physical_filtered", "comm_fromto", "comm_tagsize", "comm_typeval", "units", "shifts", "intracomms_enabled",
    "intercomms_enabled", "scale_relative", "selected_objects", "zoom_objects", *_TIMES,
)  # fmt: skip


class UnreadableWindow(Exception):
    """Reason why a window cannot become a view."""


class ParaverWindow:
    """Window of a Paraver configuration.

    notes: parts that are not read although the values may depend on them. objects: the rows that the window shows;
    None: all rows.
    """

    def __init__(self, section: CfgSection, place: int) -> None:
        """Parse a window.

        Args:
            section: Settings of the window.
            place: Number of the window in the file, from 1. It identifies a window that has no id.
        """
        self._of, self.notes = section, list[str]()
        self.name = section.setting("window_name")
        self.id = int(section.number("window_id", place))
        self._functions = section.pairs("window_selected_functions")
        self._composes = dict(map(_now_called, section.pairs("window_compose_functions").items()))
        self._us = names.US.get(section.setting("window_units", "Microseconds"), 1.0)
        self._modules = self._named(section.settings.get("window_semantic_module", []))
        self._filters = [line.split() for line in section.settings.get("window_filter_module", [])]
        self.made_of = [int(one) for one in section.setting("window_identifiers").split() if one.isdigit()]
        self.objects, self._other_objects = objects_of(section.settings.get("window_object", []))
        self.is_derived = section.setting("window_type", "single") == "composed"

    def view(self, others: dict[int, View | Derived]) -> View | Derived:
        """Return the view that corresponds to the window.

        Args:
            others: Views of the windows of which this window is made, by id.

        Raises:
            UnreadableWindow: A setting has no counterpart here.
            TracelibError: A setting is wrong.
        """
        self._mention_the_rest()
        level = self._level()
        if self.is_derived:
            return self._derived(level, others)
        chain = CHAINS[level]
        composes = {one.value: self._compose(f"compose_{_short(one)}") for one in (Level.THREAD, *chain)}
        thread, scale = self._thread()
        composes[Level.THREAD.value] = scale + composes[Level.THREAD.value]
        of_levels = {one.value: self._of_level(_short(one)) for one in chain}
        if Level.NODE in chain:
            self._mention_cpus()
        return View(
            thread, level, self._filter(level), composes={key: value for key, value in composes.items() if value},
            compose2=self._compose("topcompose2"), compose1=self._compose("topcompose1"), name=self.name, **of_levels,
        )  # fmt: skip

    def _named(self, lines: list[str]) -> dict[tuple[str, str], list[list[float]]]:
        """Return the parameters of each pair (level, function)."""
        found = {}
        for line in lines:
            head, brace, rest = line.partition("{")
            level, _, function = head.strip().partition(" ")
            found[names.EARLIER.get(level, level), function.strip()] = parameters(brace + rest)
        return found

    def _numbers(self, level: str, function: str) -> list[float]:
        """Return all parameters of a function as one list of numbers."""
        return [value for values in self._modules.get((level, function), []) for value in values]

    def _level(self) -> Level:
        text = self._of.setting("window_level", "thread")
        if text == "workload":
            self.notes.append("level workload: shown as that of applications")
            text = "appl"
        if text not in names.LEVELS:
            raise UnreadableWindow(f"level {text}")
        return Level(names.LEVELS[text])

    def _thread(self) -> tuple[Any, list[Any]]:
        """Return the thread function, and compose functions that convert its values to the window's unit of time."""
        name = self._functions.get("thread", "")
        if name not in names.THREAD:
            raise UnreadableWindow(f"thread function {name!r}")
        values = self._numbers("thread", name)
        if name in names.AVERAGES:
            if not values:
                self.notes.append(f"{name}: no factor is given, 1 is taken")
            return (names.THREAD[name], (values or [1.0])[0] * self._us), []
        if name in names.CHOOSE:
            return (names.THREAD[name], *map(int, values)), []
        if name in names.BANDWIDTHS:
            share = self._us / self._factor(values)
            return names.THREAD[name], [("product", share)] if share != 1 else []
        scale = [("divide", self._us)] if name in names.TIMES and self._us != 1 else []
        return (names.THREAD[name], *map(int, values or [1])) if name == names.OF_STATES else names.THREAD[name], scale

    def _factor(self, values: list[float]) -> float:
        if values and not values[0]:
            raise UnreadableWindow("factor 0")
        return values[0] if values else 1.0

    def _mention_cpus(self) -> None:
        """Note what is not read: Paraver combines CPUs to nodes, but views combine threads to nodes."""
        if self._functions.get("cpu", names.OF_CPU) != names.OF_CPU:
            self.notes.append(f"cpu function {self._functions['cpu']}")
        if self._compose("compose_cpu"):
            self.notes.append("compose_cpu")

    def _of_level(self, level: str) -> str:
        name = self._functions.get(level, "Adding")
        if name == names.THREAD_I:
            return f"thread {1 + int((self._numbers(level, name) or [0])[0])}"
        if name not in names.LEVEL:
            raise UnreadableWindow(f"{level} function {name!r}")
        return names.LEVEL[name]

    def _compose(self, which: str) -> list[Any]:
        name = self._composes.get(which, "As Is")
        if name not in names.COMPOSE:
            raise UnreadableWindow(f"{which} {name!r}")
        values = self._numbers(which, name)
        if name in names.RANGES:
            values = sorted(values)
        *others, last = names.COMPOSE[name] or (None,)
        scale = [("divide", self._us)] if name in names.IN_UNITS and self._us != 1 else []
        return [*others, (last, *values) if values else last, *scale] if last else []

    def _derived(self, level: Level, others: dict[int, View | Derived]) -> Derived:
        operation = self._of.setting("window_operation")
        if operation not in names.OPERATIONS:
            raise UnreadableWindow(f"operation {operation!r}")
        if len(self.made_of) != 2 or any(one not in others for one in self.made_of):
            raise UnreadableWindow("a window that it is made of")
        of = tuple(others[one] for one in self.made_of)
        levels = [_level_of(one) for one in of]
        if level not in levels or any(len(CHAINS[one]) < len(CHAINS[level]) for one in levels):
            raise UnreadableWindow(f"level {level.value} of a derived window of windows of other levels")
        own = self._compose(f"compose_{_short(level)}")
        if any(self._compose(f"compose_{_short(one)}") for one in Level if one is not level):
            raise UnreadableWindow("composition at another level of a derived window")
        if any(float(one) for one in self._of.setting("window_shifts").split()):
            raise UnreadableWindow("window_shifts")
        factors = tuple(float(one) for one in self._of.setting("window_factors").split())
        tops = [*own, *self._compose("topcompose2")], self._compose("topcompose1")
        return Derived(names.OPERATIONS[operation], of, factors, *tops, name=self.name)

    def _filter(self, level: Level) -> Filter:
        found: dict[str, Any] = {}
        if (types := self._types()) is not None:
            found["types"] = types
        for ours, theirs in (("values", "evt_value"), ("size", "size_msg"), ("tag", "tag_msg")):
            if wanted := self._wanted(theirs):
                found[ours] = wanted
        for ours, theirs in (("source", "from_obj"), ("destination", "to_obj")):
            if wanted := self._wanted(theirs, from_one=True):
                found[ours] = wanted
                if level not in (Level.THREAD, Level.TASK) and wanted != _NOTHING:
                    raise UnreadableWindow(f"filter {theirs} of level {level.value}")
        if self._functions.get("evt_value") == "None":
            found |= {"types": _NONE}
            found.pop("values", None)
        if self._functions.get("bw_msg", "All") != "All":
            self.notes.append("filter bw_msg")
        for any_of, setting in (
            ({"source", "destination"}, "comm_fromto"), ({"size", "tag"}, "comm_tagsize"), ({"values"}, "comm_typeval"),
        ):  # fmt: skip
            if any_of & set(found) and self._of.setting(f"window_{setting}", "true") == "false":
                raise UnreadableWindow(f"window_{setting} false")
        is_logical, is_physical = (
            self._of.setting(f"window_{one}_filtered", "true") == "true" for one in ("logical", "physical")
        )
        return Filter(logical=is_logical and not is_physical, **found)

    def _given(self, what: str) -> list[float]:
        """Return the values of a filter. In the file, their number stands before them."""
        return [float(one) for line in self._filters if line[:1] == [what] for one in line[2:]]

    def _types(self) -> tuple[int, ...] | None:
        """Return the event types of the filter; None: all types."""
        how, given = self._functions.get("evt_type", "All"), [int(one) for one in self._given("evt_type")]
        if how == "All":
            return None
        if how == "None" or (how == "=" and not given):
            return _NONE
        if how == "=":
            return tuple(given)
        if how == "[x,y]" and len(given) >= 2 and 0 <= max(given) - min(given) < _MOST_TYPES:
            return tuple(range(min(given), max(given) + 1))
        raise UnreadableWindow(f"filter evt_type {how}")

    def _wanted(self, what: str, *, from_one: bool = False) -> str:
        """Return the numbers of a filter as text for `Numbers.parse`; "": all numbers.

        Args:
            what: The filter.
            from_one: Whether objects count from 1 in the file. Views count from 0.
        """
        how, given = self._functions.get(what, "All"), [one - from_one for one in self._given(what)]
        if how == "All" or (how in ("!=", ">", "<") and not given) or (how == "None" and what == "evt_value"):
            return ""
        if how == "None" or (how == "=" and not given):
            return _NOTHING
        if how in ("=", "!="):
            return ("!" if how == "!=" else "") + ",".join(f"{one:.15g}" for one in given)
        if how in (">", "<"):  # a number must satisfy every limit
            return f"{how}{max(given) if how == '>' else min(given):.15g}"
        if how == "[x,y]" and len(given) == 2:
            return f"{min(given):.15g}-{max(given):.15g}"
        raise UnreadableWindow(f"filter {what} {how}")

    def _mention_the_rest(self) -> None:
        known = {f"window_{one}" for one in (*_READ, *names.SHOWN_ONLY)}
        if any(
            not re.fullmatch(r"\w+ \{ \d+, \{[ 1,]*\} \}", line) for line in self._of.settings.get(_EARLIER_OBJECTS, [])
        ):
            self.notes.append(_EARLIER_OBJECTS)
        self.notes += [name for name in self._of.settings if name not in known and not name.startswith(names.ALIASES)]
        self.notes += [f"function of {one}" for one in self._functions if one not in names.FUNCTIONS]
        self.notes += [f"{one} {name}" for one, name in self._composes.items() if one not in names.COMPOSED]
        self.notes += [f"filter {line[0]}" for line in self._filters if line and line[0] not in names.FILTERED]
        shown = self._of.number("window_end_time_relative", self._of.number("window_scale_relative", 1))
        times = [self._of.number(f"window_{one}", 0) for one in _TIMES]
        if (self._of.number("window_begin_time_relative", 0), shown) != (0, 1) or any(times):
            self.notes.append("the part of the time that is shown (give --from and --to)")
        self.notes += [f"window_object {line.split(' ')[0]}" for line in self._other_objects]
        for one in ("intracomms", "intercomms"):
            if self._of.setting(f"window_{one}_enabled", "true") == "false":
                self.notes.append(f"window_{one}_enabled false")


def _now_called(composed: tuple[str, str]) -> tuple[str, str]:
    """Translate the name of a composition of an earlier version to its present name."""
    where, function = composed
    levels = (*names.LEVELS, "workload")
    return names.EARLIER.get(where, f"compose_{where}" if where in levels else where), function


def _short(level: Level) -> str:
    """Return the word for a level in Paraver's files, such as "appl" for applications."""
    return next(theirs for theirs, ours in names.LEVELS.items() if ours == level.value)


def _level_of(view: View | Derived) -> Level:
    return Level(view.level) if isinstance(view, View) else _level_of(view.of[0])


def described(window: ParaverWindow, error: Exception) -> str:
    """Return a note that says why a window is left out."""
    return f"window {window.name!r} is left out: {error} cannot be read"
