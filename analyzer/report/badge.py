"""A badge for a page or a merge request: a label and a message, as SVG or as JSON for shields.io."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from analyzer.report.words import units

GOOD, FAIR, MIDDLING, POOR, BAD, NEUTRAL = "#2e7d32", "#5f7a12", "#8a6500", "#b04a00", "#b3261e", "#555555"
"""Background colours of messages. White text on each has a contrast of at least 4.5."""
_EFFICIENCIES = ((0.9, GOOD), (0.8, FAIR), (0.7, MIDDLING), (0.5, POOR))
_MARGIN, _HEIGHT = 6, 20
"""Margin beside a text and height of the badge, in pixels."""
_WIDTHS = {**dict.fromkeys("ijl.,:;'| ", 3.4), **dict.fromkeys("frt-()", 4.4), **dict.fromkeys("%mwMW", 10.4)}
_WIDTH = 6.8
"""Approximate width in pixels of a character in 11 px. Fonts differ, so texts are stretched to the computed width."""


@dataclass(frozen=True)
class Badge:
    """Texts and colour (#rrggbb) of a badge."""

    label: str
    message: str
    colour: str

    @property
    def text(self) -> str:
        """Label and message as one text, for screen readers."""
        return f"{self.label}: {self.message}"


def of_efficiency(value: float | None) -> Badge:
    """Make the badge of a run's parallel efficiency (0 to 1). None: not known."""
    if value is None:
        return Badge("parallel efficiency", "not known", NEUTRAL)
    colour = next((colour for least, colour in _EFFICIENCIES if value >= least), BAD)
    return Badge("parallel efficiency", units.percent(value), colour)


def of_change(relative: float | None, *, sure: bool, noise: bool) -> Badge:
    """Make the badge of the change of the run time between two runs.

    Args:
        relative: Relative change; positive: slower. None: not known.
        sure: The change is more than noise.
        noise: The change is within noise.
    """
    if relative is None:
        return Badge("run time", "not known", NEUTRAL)
    message = f"{'+' if relative > 0 else '-' if relative < 0 else ''}{units.percent(abs(relative))}"
    if noise:
        return Badge("run time", f"{message}, noise", GOOD)
    if not sure:
        return Badge("run time", f"{message}, not sure", NEUTRAL)
    return Badge("run time", message, BAD if relative > 0 else GOOD)


def content(badge: Badge, path: Path) -> bytes:
    """Return the contents of the badge file: JSON for shields.io if its name ends in .json, otherwise SVG."""
    return (_json(badge) if path.suffix.lower() == ".json" else _svg(badge)).encode()


def _json(badge: Badge) -> str:
    """Return the badge as JSON. Source: shields.io, endpoint badge, schema version 1."""
    found: dict[str, Any] = {
        "schemaVersion": 1, "label": badge.label, "message": badge.message, "color": badge.colour.removeprefix("#"),
    }  # fmt: skip
    return json.dumps(found) + "\n"


def _svg(badge: Badge) -> str:
    texts = badge.label, badge.message
    left, right = (round(sum(_WIDTHS.get(c, _WIDTH) for c in text)) + 2 * _MARGIN for text in texts)
    drawn = "".join(
        f'<text x="{x + width / 2:g}" y="14" textLength="{width - 2 * _MARGIN}">{escape(text)}</text>'
        for x, width, text in ((0, left, badge.label), (left, right, badge.message))
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img">\n'
        f"<title>{escape(badge.text)}</title>\n"
        f'<clipPath id="r"><rect width="{left + right}" height="{_HEIGHT}" rx="3"/></clipPath>\n'
        f'<g clip-path="url(#r)"><rect width="{left}" height="{_HEIGHT}" fill="#3b3b3b"/>'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{badge.colour}"/></g>\n'
        f'<g fill="#ffffff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{drawn}</g>\n"
        "</svg>\n"
    )
