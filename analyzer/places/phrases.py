"""Names of calls and of computation by their places: in tables, sentences and plain data alike."""

from __future__ import annotations

from typing import Any

from analyzer.places.call_gaps import CallGap, GapKind
from analyzer.places.place_table import Places


def call_at(procedure: str, place: str) -> str:
    """Return `MPI_Send at exchange.c:212 in exchange`; without a place, the call alone."""
    return f"{procedure} at {place}" if place else procedure


def computing_at(stretch: CallGap, before: str = "", after: str = "") -> str:
    """Return `computing at smooth.f90:40-61 in smooth before MPI_Send`.

    before, after: the calls around it; empty: none.
    """
    next_ = f" before {before}" if before else ""
    if stretch.kind is GapKind.BETWEEN:
        return f"computing at {stretch.text}{next_}"
    if stretch.kind is GapKind.AFTER and after:
        return f"computing after {call_at(after, stretch.text)}"
    return f"computing before {call_at(before, stretch.text)}" if before else "computing"


def known_text(places: Places, path: int) -> str:
    """Return the place of a path; empty: it is not known."""
    place = int(places.place[path])
    return places.text(place) if place else ""


def place_json(places: Places, path: int) -> dict[str, Any]:
    """Return the place of a path under the names that all commands have; None if it is not known."""
    place = int(places.place[path])
    return {
        "place": (places.location(place) or places.text(place)) if place else None,
        "function": places.function(place) if place else None,
    }


def stretch_json(stretch: CallGap) -> dict[str, Any]:
    """Return the place of a stretch between two calls, under the names that all commands have."""
    return {"place": stretch.where or stretch.text or None, "function": stretch.function or None}
