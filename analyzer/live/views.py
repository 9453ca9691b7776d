"""Which views (analyzer.views) may be drawn: those that the user gave, and those of the library, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from analyzer.errors import TracelibError
from analyzer.views.lanes import Level
from analyzer.views.view import View
from analyzer.views.view_file import ViewFile, find_view, library


def listed_name(name: str) -> str:
    """The name under which a view is listed: one of the library may be written with hyphens."""
    spaced = name.lower().replace("-", " ")
    return spaced if spaced in library() else name


class Views:
    """Views by name. A page asks by name only, so that it cannot have any other file read."""

    def __init__(self, given: Mapping[str, ViewFile] | None = None) -> None:
        """given: by name."""
        self._given = dict(given or {})
        self._library = library()

    @property
    def names(self) -> tuple[str, ...]:
        """All, those that were given first."""
        return (*self._given, *(name for name in self._library if name not in self._given))

    def find(self, name: str, level: str = "") -> ViewFile:
        """A view on a level; "": its own. Raises TracelibError where there is none such."""
        if name not in self.names:
            raise TracelibError(f"there is no view {name!r} here", f"there are {', '.join(self.names)}", 2)
        found = self._given[name] if name in self._given else find_view(name)
        if not level:
            return found
        if not isinstance(found.view, View):
            raise TracelibError(f"{name}: its level is that of the views that it is made of", "", 2)
        return replace(found, view=replace(found.view, level=level))

    def levels(self, name: str) -> tuple[str, ...]:
        """Levels that a view may be taken on; none: it is made of others."""
        return tuple(level.value for level in Level) if isinstance(self.find(name).view, View) else ()
