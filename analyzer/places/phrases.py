"""Texts that name calls and computation by their places. Tables, sentences and JSON use the same texts."""

from __future__ import annotations

from typing import Any

from analyzer.places.call_gaps import CallGap, GapKind
from analyzer.places.place_table import Places


def call_at(procedure: str, place: str) -> str:
    """Name a call by its place, such as `MPI_Send at exchange.c:212 in exchange`.

    Without a place: the procedure alone.
    """
    return f"{procedure} at {place}" if place else procedure


def computing_at(stretch: CallGap, before: str = "", after: str = "") -> str:
    """Name the computation between two calls, such as `computing at smooth.f90:40-61 in smooth before MPI_Send`.

    Args:
        stretch: The code between the calls.
        before: Procedure of the call that follows the computation. "": there is none.
        after: Procedure of the call that the computation follows. "": there is none.
    """
    next_ = f" before {before}" if before else ""
    if stretch.kind is GapKind.BETWEEN:
        return f"computing at {stretch.text}{next_}"
    if stretch.kind is GapKind.AFTER and after:
        return f"computing after {call_at(after, stretch.text)}"
    return f"computing before {call_at(before, stretch.text)}" if before else "computing"


def known_text(places: Places, path: int) -> str:
    """Return the text of a path's place, or "" if the place is not known."""
    place = int(places.place[path])
    return places.text(place) if place else ""


def place_json(places: Places, path: int) -> dict[str, Any]:
    """Return the place of a path for JSON: keys "place" and "function", which all commands use. None: not known."""
    place = int(places.place[path])
    return {
        "place": (places.location(place) or places.text(place)) if place else None,
        "function": places.function(place) if place else None,
    }


def stretch_json(stretch: CallGap) -> dict[str, Any]:
    """Return the code between two calls for JSON, with the keys "place" and "function". None: not known."""
    return {"place": stretch.where or stretch.text or None, "function": stretch.function or None}
