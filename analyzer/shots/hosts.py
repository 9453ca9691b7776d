"""Hosts that run shots, with their limits and the command lines that reach them. The file may change during a study."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any

from analyzer.errors import TracelibError, about
from analyzer.machine.toml_table import TomlTable
from analyzer.shots import study_values
from analyzer.shots.study_values import filled, names_in

PROBE = "mkdir -p {folder} && cat /proc/loadavg && grep MemAvailable /proc/meminfo && df -Pk {folder}"
"""Shell command whose output `read_load` parses. {folder}: the folder of the host into which shots write."""
_LOAD = re.compile(r"^(\d+\.\d+) \d+\.\d+ \d+\.\d+ \d+/\d+ \d+\s*$", re.MULTILINE)
_MEMORY = re.compile(r"^MemAvailable:\s*(\d+) kB", re.MULTILINE)
_DISK = re.compile(r"\s(\d+)\s+\d+%\s+/.*$", re.MULTILINE)


@dataclass(frozen=True)
class HostLoad:
    """Load of a host.

    Attributes:
        load: Mean number of processes that wanted a CPU in the last minute.
        memory_bytes: Available memory.
        disk_bytes: Free disk space in the folder of the shots.
    """

    load: float
    memory_bytes: float
    disk_bytes: float


def read_load(text: str) -> HostLoad | None:
    """Parse the output of `PROBE`, ignoring other text that a login prints. Return None if values are missing."""
    found = [pattern.search(text) for pattern in (_LOAD, _MEMORY, _DISK)]
    if None in found:
        return None
    load, memory, disk = (float(match[1]) for match in found if match)
    return HostLoad(load, 1024 * memory, 1024 * disk)


_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MINUTES = 24 * 60
_HINT = 'write windows as ["Mon-Fri 20:00-07:00", "Sat-Sun"]'


@dataclass(frozen=True)
class TimeWindow:
    """Weekdays, and a stretch of time on each of them, which may end on the next day.

    Attributes:
        days: Weekdays on which the window begins, 0 for Monday.
        begin: Begin in minutes from midnight.
        end: End in minutes from the same midnight (above 1440: on the next day), not included.
    """

    days: frozenset[int]  # 0: Monday
    begin: int = 0
    end: int = _MINUTES

    def has(self, moment: datetime) -> bool:
        """Check whether a moment lies in the window [begin, end)."""
        day, minute = moment.weekday(), moment.hour * 60 + moment.minute
        today = day in self.days and self.begin <= minute < self.end
        return today or ((day - 1) % 7 in self.days and self.begin <= minute + _MINUTES < self.end)


def read_window(text: str) -> TimeWindow:
    """Parse a time window such as "Mon-Fri 20:00-07:00" or "Sat-Sun". The days are those on which it begins.

    Raises:
        TracelibError: The text is not a time window.
    """
    found = re.fullmatch(r"\s*([A-Za-z, -]*?)\s*(?:(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d))?\s*", text)
    if not found or not text.strip():
        raise TracelibError(f"{text!r} is no time window", _HINT)
    days = _days(text, found[1])
    if found[2] is None:
        return TimeWindow(days)
    hours, minutes = (int(found[2]), int(found[4])), (int(found[3]), int(found[5]))
    begin, end = (60 * hour + minute for hour, minute in zip(hours, minutes, strict=True))
    if begin >= _MINUTES or end > _MINUTES or max(minutes) > 59 or begin == end:
        raise TracelibError(f"{text!r} is no time window", _HINT)
    return TimeWindow(days, begin, end if end > begin else end + _MINUTES)


def _days(text: str, given: str) -> frozenset[int]:
    days: set[int] = set()
    for part in filter(None, re.split(r"[,\s]+", re.sub(r"\s*-\s*", "-", given.strip()))):
        ends = [word.lower()[:3] for word in part.split("-")]
        if len(ends) > 2 or not set(ends) <= set(_DAYS):
            raise TracelibError(f"{text!r} is no time window: {part!r} is no day", _HINT)
        first, last = _DAYS.index(ends[0]), _DAYS.index(ends[-1])
        days |= {(first + k) % 7 for k in range((last - first) % 7 + 1)}
    return frozenset(days or range(7))


FINISH, SUSPEND, GIVE_BACK = OUTSIDE = ("finish", "suspend", "give back")
"""Ways to treat a running shot when the time window of its host closes."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class BatchSystem:
    """Command lines of a batch system. A submitted shot has ended when its exit status is in its folder."""

    submit: str  # command line that submits {{script}}
    id: str = r"(\d\S*)"  # regular expression; its group is the job's name in the output of `submit`
    alive: str = ""  # command line with {{id}}: fails or prints nothing if the system does not know the job
    cancel: str = ""  # command line with {{id}}
    poll_s: float = 10.0


@dataclass(frozen=True)
class Host:
    """A host, how a command is run there, and what it may be used for.

    Attributes:
        slots: Largest number of shots at a time.
        run: Command line that runs {{command}} on the host and passes on its standard input and output.
        work: Folder of the host for shots. "": the host sees the study's folder under the same path.
        put: Command line that copies a shot's folder {{here}} to {{there}} on the host.
        get: Command line that copies a shot's folder back from {{there}} to {{here}}.
        windows: Times at which the host may begin shots. (): always.
        outside: What happens to running shots outside of the windows, one of `OUTSIDE`.
        most_load: A new shot begins only below this load (`HostLoad.load`).
    """

    name: str
    slots: int = 1
    run: str = "sh -c {{command}}"
    work: str = ""
    put: str = ""
    get: str = ""
    windows: tuple[TimeWindow, ...] = ()
    outside: str = FINISH
    most_load: float = inf
    least_memory: float = 0.0  # bytes of memory that stay available
    least_disk: float = 0.0
    silence_s: float = 60.0  # a host that prints nothing for this time is lost
    copy_s: float = 600.0  # longest time of a copy
    again_s: float = 15.0  # time until a host in trouble is probed again
    batch: BatchSystem | None = None

    def line(self, command: str) -> list[str]:
        """Return the argument list of a process that runs a shell command on the host."""
        return ["/bin/sh", "-c", filled(self.run, {"command": shlex.quote(command), "host": self.name}, self.name)]

    def is_open(self, moment: datetime) -> bool:
        """Check whether a moment lies in one of the host's windows. A host without windows is always open."""
        return not self.windows or any(window.has(moment) for window in self.windows)


def local() -> tuple[Host, ...]:
    """Return the host "here", this machine, with one slot for each CPU that the process may use."""
    return (Host("here", len(os.sched_getaffinity(0))),)


class HostsFile:
    """The hosts of a file that may change while a study goes on."""

    def __init__(self, path: Path | None) -> None:
        """Read the hosts.

        Args:
            path: A study, or a file of hosts. None: this machine is the only host.

        Raises:
            TracelibError: The file cannot be read, or is not valid.
        """
        self._path = path
        self._text = b""
        self.hosts = local()
        if path is not None:
            self.hosts = self._read()

    def refresh(self) -> str:
        """Read the file again if it has changed.

        Returns:
            What is wrong with the changed file, or "". If it is wrong, the hosts stay as they were.
        """
        if self._path is None:
            return ""
        before = self._text
        try:
            self.hosts = self._read()
        except TracelibError as error:
            return "" if self._text == before else f"{error}; the hosts stay as they were"
        return ""

    def _read(self) -> tuple[Host, ...]:
        assert self._path is not None
        try:
            text = self._path.read_bytes()
        except OSError as error:
            raise TracelibError(f"cannot read {self._path}: {error.strerror}", "name a file of hosts") from error
        if text == self._text:
            return self.hosts
        self._text = text
        try:
            given = tomllib.loads(text.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise TracelibError(f"{self._path}: not a TOML file: {error}") from error
        with about(self._path):
            return read_hosts(given.get("hosts"))


def read_hosts(given: Any) -> tuple[Host, ...]:
    """Read hosts from the tables [hosts.NAME] of a file.

    Raises:
        TracelibError: There are no hosts, or a key or value is not valid.
    """
    if not isinstance(given, Mapping) or not given:
        raise TracelibError("there are no hosts", "write [hosts.NAME] for each")
    return tuple(_host(name, TomlTable(f"[hosts.{name}]", of, "docs/analyze-study.md")) for name, of in given.items())


def _host(name: str, table: TomlTable) -> Host:
    if not _NAME.fullmatch(name):
        raise TracelibError(f"a host cannot be called {name!r}", "use letters, digits, '.', '_' and '-'")
    given: dict[str, Any] = {"slots": study_values.whole(f"{table.name} slots", table.take("slots", 1), 0)}
    for key, placeholders in (("run", {"command"}), ("put", {"here", "there"}), ("get", {"here", "there"})):
        if key in table:
            given[key] = _line(table, key, placeholders, {"host"})
    if "work" in table:
        given["work"] = study_values.text(f"{table.name} work", table.take("work", "")).rstrip("/")
    if "windows" in table:
        texts = study_values.texts(f"{table.name} windows", table.take("windows", []))
        given["windows"] = tuple(read_window(text) for text in texts)
    given["outside"] = table.choice("outside", OUTSIDE)
    if "most_load" in table:
        given["most_load"] = table.quantity("most_load", inf)
    for key in ("least_memory", "least_disk"):
        if key in table:
            given[key] = study_values.size_bytes(f"{table.name} {key}", table.take(key, ""))
    for key, field in (("silence", "silence_s"), ("copy", "copy_s"), ("again", "again_s")):
        if key in table:
            given[field] = study_values.seconds(f"{table.name} {key}", table.take(key, ""))
    given["batch"] = _batch(table)
    table.end()
    host = Host(name, **given)
    if len({bool(host.work), bool(host.put), bool(host.get)}) > 1:
        raise TracelibError(
            f"{table.name}: work, put and get belong together", "give all three, or none where the folder is shared"
        )
    if host.batch and host.outside == SUSPEND:
        raise TracelibError(f"{table.name}: a shot in a batch system cannot be suspended", 'use outside = "finish"')
    return host


def _batch(table: TomlTable) -> BatchSystem | None:
    if "submit" not in table:
        return None
    given: dict[str, Any] = {"submit": _line(table, "submit", {"script"}, {"shot"})}
    for key in ("alive", "cancel"):
        if key in table:
            given[key] = _line(table, key, {"id"}, set())
    if "id" in table:
        pattern = given["id"] = study_values.text(f"{table.name} id", table.take("id", ""))
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise TracelibError(f"{table.name} id = {pattern!r}: {error}", "it is a regular expression") from error
        if groups < 1:
            raise TracelibError(f"{table.name} id = {pattern!r} has no group", "put ( ) around the name of the job")
    if "poll" in table:
        given["poll_s"] = study_values.seconds(f"{table.name} poll", table.take("poll", ""))
    return BatchSystem(**given)


def _line(table: TomlTable, key: str, needed: set[str], more: set[str]) -> str:
    """Read a command line. Placeholders `needed` must be in it, those in `more` may. Raises TracelibError."""
    text = study_values.text(f"{table.name} {key}", table.take(key, ""))
    names = names_in(text)
    if missing := needed - names:
        raise TracelibError(f"{table.name} {key} = {text!r}", f"{{{{{min(missing)}}}}} must stand in it")
    if unknown := names - needed - more:
        known = ", ".join(f"{{{{{name}}}}}" for name in sorted(needed | more))
        raise TracelibError(f"{table.name} {key}: {{{{{min(unknown)}}}}} stands for nothing", f"there are {known}")
    return text
