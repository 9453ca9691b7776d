"""When a host may be used: "20:00-07:00", "Mon-Fri 20:00-07:00", "Sat-Sun"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from analyzer.errors import TracelibError

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MINUTES = 24 * 60
_HINT = 'write windows as ["Mon-Fri 20:00-07:00", "Sat-Sun"]'


@dataclass(frozen=True)
class Window:
    """Days, and a stretch of each of them in minutes from its midnight; it may end on the next day."""

    days: frozenset[int]  # 0: Monday
    begin: int = 0
    end: int = _MINUTES

    def has(self, moment: datetime) -> bool:
        """Whether a moment lies in the window; its end does not."""
        day, minute = moment.weekday(), moment.hour * 60 + moment.minute
        today = day in self.days and self.begin <= minute < self.end
        return today or ((day - 1) % 7 in self.days and self.begin <= minute + _MINUTES < self.end)


def read_window(text: str) -> Window:
    """A window as people write it. Days are those on which it begins. Raises TracelibError."""
    found = re.fullmatch(r"\s*([A-Za-z, -]*?)\s*(?:(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d))?\s*", text)
    if not found or not text.strip():
        raise TracelibError(f"{text!r} is no time window", _HINT)
    days = _days(text, found[1])
    if found[2] is None:
        return Window(days)
    hours, minutes = (int(found[2]), int(found[4])), (int(found[3]), int(found[5]))
    begin, end = (60 * hour + minute for hour, minute in zip(hours, minutes, strict=True))
    if begin >= _MINUTES or end > _MINUTES or max(minutes) > 59 or begin == end:
        raise TracelibError(f"{text!r} is no time window", _HINT)
    return Window(days, begin, end if end > begin else end + _MINUTES)


def _days(text: str, given: str) -> frozenset[int]:
    days: set[int] = set()
    for part in filter(None, re.split(r"[,\s]+", re.sub(r"\s*-\s*", "-", given.strip()))):
        ends = [word.lower()[:3] for word in part.split("-")]
        if len(ends) > 2 or not set(ends) <= set(_DAYS):
            raise TracelibError(f"{text!r} is no time window: {part!r} is no day", _HINT)
        first, last = _DAYS.index(ends[0]), _DAYS.index(ends[-1])
        days |= {(first + k) % 7 for k in range((last - first) % 7 + 1)}
    return frozenset(days or range(7))
