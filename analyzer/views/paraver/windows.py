"""Windows of a Paraver configuration as views."""

from __future__ import annotations

from typing import Any

from analyzer.views.filters import Filter
from analyzer.views.lanes import CHAINS, Level
from analyzer.views.paraver import names
from analyzer.views.paraver.cfg_text import CfgSection, parameters
from analyzer.views.view import Derived, View

_NONE = (-1,)
"""A type that no event has."""
_MOST_TYPES = 10_000
_FIRST_APPLICATION = "appl { 1, { 1 } }"
_READ = (
    "name", "type", "id", "level", "object", "begin_time_relative", "end_time_relative", "factors", "operation",
    "identifiers", "selected_functions", "compose_functions", "semantic_module", "filter_module", "logical_filtered",
    "physical_filtered", "comm_fromto", "comm_tagsize", "comm_typeval", "units", "shifts", "intracomms_enabled",
    "intercomms_enabled",
)  # fmt: skip


class Unreadable(Exception):
    """Why a window cannot be a view."""


class Window:
    """One window. `notes`: what of it is not read although the numbers may depend on it."""

    def __init__(self, section: CfgSection) -> None:
        self._of, self.notes = section, list[str]()
        self.name = section.one("window_name")
        self.id = int(section.number("window_id", 0))
        self._functions = section.pairs("window_selected_functions")
        self._composes = section.pairs("window_compose_functions")
        self._us = names.US.get(section.one("window_units", "Microseconds"), 1.0)
        self._modules = self._named(section.settings.get("window_semantic_module", []))
        self._filters = [line.split() for line in section.settings.get("window_filter_module", [])]
        self.made_of = [int(one) for one in section.one("window_identifiers").split() if one.isdigit()]
        self.is_derived = section.one("window_type", "single") == "composed"

    def view(self, others: dict[int, View | Derived]) -> View | Derived:
        """others: views of the windows that it is made of. Raises Unreadable, TracelibError."""
        self._mention_the_rest()
        level = self._level()
        if self.is_derived:
            return self._derived(level, others)
        chain = CHAINS[level]
        composes = {one.value: self._compose(f"compose_{_short(one)}") for one in (Level.THREAD, *chain)}
        thread, scale = self._thread()
        composes[Level.THREAD.value] = scale + composes[Level.THREAD.value]
        of_levels = {one.value: self._of_level(_short(one)) for one in chain}
        return View(
            thread, level, self._filter(), composes={key: value for key, value in composes.items() if value},
            compose2=self._compose("topcompose2"), compose1=self._compose("topcompose1"), name=self.name, **of_levels,
        )  # fmt: skip

    def _named(self, lines: list[str]) -> dict[tuple[str, str], list[list[float]]]:
        """Parameters by level and function."""
        found = {}
        for line in lines:
            head, brace, rest = line.partition("{")
            level, _, function = head.strip().partition(" ")
            found[level, function.strip()] = parameters(brace + rest)
        return found

    def _numbers(self, level: str, function: str) -> list[float]:
        """All parameters of a function, one after the other."""
        return [value for values in self._modules.get((level, function), []) for value in values]

    def _level(self) -> Level:
        text = self._of.one("window_level", "thread")
        if text == "workload":
            self.notes.append("level workload: shown as that of applications")
            text = "appl"
        if text not in names.LEVELS:
            raise Unreadable(f"level {text}")
        return Level(names.LEVELS[text])

    def _thread(self) -> tuple[Any, list[Any]]:
        """The function of threads, and what brings its values to the unit of the window."""
        name = self._functions.get("thread", "")
        if name not in names.THREAD:
            raise Unreadable(f"thread function {name!r}")
        values = self._numbers("thread", name)
        if name in names.AVERAGES:
            if not values:
                self.notes.append(f"{name}: no factor is given, 1 is taken")
            return (names.THREAD[name], (values or [1.0])[0] * self._us), []
        if name in names.CHOOSE:
            return (names.THREAD[name], *map(int, values)), []
        return names.THREAD[name], [("divide", self._us)] if name in names.TIMES and self._us != 1 else []

    def _of_level(self, level: str) -> str:
        name = self._functions.get(level, "Adding")
        if name == names.THREAD_I:
            return f"thread {1 + int((self._numbers(level, name) or [0])[0])}"
        if name not in names.LEVEL:
            raise Unreadable(f"{level} function {name!r}")
        return names.LEVEL[name]

    def _compose(self, which: str) -> list[Any]:
        name = self._composes.get(which, "As Is")
        if name not in names.COMPOSE:
            raise Unreadable(f"{which} {name!r}")
        values = self._numbers(which, name)
        if name in names.RANGES:
            values = sorted(values)
        return [(names.COMPOSE[name], *values)] if names.COMPOSE[name] else []

    def _derived(self, level: Level, others: dict[int, View | Derived]) -> Derived:
        operation = self._of.one("window_operation")
        if operation not in names.OPERATIONS:
            raise Unreadable(f"operation {operation!r}")
        if len(self.made_of) != 2 or any(one not in others for one in self.made_of):
            raise Unreadable("a window that it is made of")
        of = tuple(others[one] for one in self.made_of)
        if level not in [_level_of(one) for one in of]:
            raise Unreadable(f"level {level.value} of a derived window of windows of other levels")
        if any(self._compose(f"compose_{_short(one)}") for one in Level):
            raise Unreadable("composition at a level of a derived window")
        if any(float(one) for one in self._of.one("window_shifts").split()):
            raise Unreadable("window_shifts")
        factors = tuple(float(one) for one in self._of.one("window_factors").split())
        tops = self._compose("topcompose2"), self._compose("topcompose1")
        return Derived(names.OPERATIONS[operation], of, factors, *tops, name=self.name)

    def _filter(self) -> Filter:
        found: dict[str, Any] = {}
        if (types := self._types()) is not None:
            found["types"] = types
        for ours, theirs in (("values", "evt_value"), ("size", "size_msg"), ("tag", "tag_msg")):
            if wanted := self._wanted(theirs):
                found[ours] = wanted
        for ours, theirs in (("source", "from_obj"), ("destination", "to_obj")):
            if wanted := self._wanted(theirs, from_one=True):
                found[ours] = wanted
        if self._functions.get("evt_value") == "None":
            found |= {"types": _NONE}
            found.pop("values", None)
        for theirs in ("bw_msg",):
            if self._functions.get(theirs, "All") != "All":
                self.notes.append(f"filter {theirs}")
        for both, setting in (({"source", "destination"}, "comm_fromto"), ({"size", "tag"}, "comm_tagsize"),
                              ({"types", "values"}, "comm_typeval")):  # fmt: skip
            if both <= set(found) and self._of.one(f"window_{setting}", "true") == "false":
                raise Unreadable(f"window_{setting} false")
        is_logical, is_physical = (
            self._of.one(f"window_{one}_filtered", "true") == "true" for one in ("logical", "physical")
        )
        return Filter(logical=is_logical and not is_physical, **found)

    def _given(self, what: str) -> list[float]:
        """Values of a filter: their number, then they."""
        return [float(one) for line in self._filters if line[:1] == [what] for one in line[2:]]

    def _types(self) -> tuple[int, ...] | None:
        """None: all."""
        how, given = self._functions.get("evt_type", "All"), [int(one) for one in self._given("evt_type")]
        if how == "All":
            return None
        if how == "None" or (how == "=" and not given):
            return _NONE
        if how == "=":
            return tuple(given)
        if how == "[x,y]" and len(given) >= 2 and 0 <= max(given) - min(given) < _MOST_TYPES:
            return tuple(range(min(given), max(given) + 1))
        raise Unreadable(f"filter evt_type {how}")

    def _wanted(self, what: str, *, from_one: bool = False) -> str:
        """As analyzer.views.numbers reads it; empty: all. Objects count from 1 there and from 0 here."""
        how, given = self._functions.get(what, "All"), [one - from_one for one in self._given(what)]
        if how in ("All", "None") or not given:
            return ""
        texts = [f"{one:.15g}" for one in given]
        if how in ("=", "!="):
            return ("!" if how == "!=" else "") + ",".join(texts)
        if how in (">", "<", ">=", "<="):
            return f"{how}{texts[0]}"
        if how == "[x,y]" and len(given) == 2:
            return f"{min(given):.15g}-{max(given):.15g}"
        raise Unreadable(f"filter {what} {how}")

    def _mention_the_rest(self) -> None:
        known = {f"window_{one}" for one in (*_READ, *names.SHOWN_ONLY)}
        self.notes += [name for name in self._of.settings if name not in known]
        if (self._of.number("window_begin_time_relative", 0), self._of.number("window_end_time_relative", 1)) != (0, 1):
            self.notes.append("the part of the time that is shown (give --from and --to)")
        chosen = self._of.one("window_object", "All")
        if "All" not in chosen and chosen != _FIRST_APPLICATION:
            self.notes.append(f"window_object {chosen}: all objects are shown")
        for one in ("intracomms", "intercomms"):
            if self._of.one(f"window_{one}_enabled", "true") == "false":
                self.notes.append(f"window_{one}_enabled false")


def _short(level: Level) -> str:
    """Paraver's word for a level."""
    return next(theirs for theirs, ours in names.LEVELS.items() if ours == level.value)


def _level_of(view: View | Derived) -> Level:
    return Level(view.level) if isinstance(view, View) else _level_of(view.of[0])


def described(window: Window, error: Exception) -> str:
    """Why there is no view of a window."""
    return f"window {window.name!r} is left out: {error} cannot be read"
