"""Flame graph as one SVG file: each function is a box as wide as its time, above the function that called it.

Also stacks with their times in formats of other tools: collapsed stacks, and speedscope's JSON.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from analyzer.atomic_file import whole_file

Frames = Sequence[tuple[str, str]]
"""Frames of a stack, the innermost first: function, and `file:line` ("": not known)."""

UNKNOWN = "(not known)"


def write_collapsed(path: str | os.PathLike[str], rows: np.ndarray, frames: Mapping[int, Frames]) -> None:
    """Write collapsed stacks: one line per stack with its time in us, such as "main;solve;kernel 1500000".

    Args:
        path: The new file.
        rows: Records with fields `path` and `ns`: the time of a call path in ns.
        frames: Frames of each path. The outermost function stands first in a line.

    Raises:
        TracelibError: The file cannot be written.
    """
    sums: dict[str, float] = {}
    for of_path, ns in zip(rows["path"].tolist(), rows["ns"].tolist(), strict=True):
        stack = ";".join(_plain(function) for function, _ in reversed(frames[of_path]))
        sums[stack] = sums.get(stack, 0.0) + ns
    with whole_file(path) as file:
        for stack, ns in sorted(sums.items()):
            if round(ns / 1e3):
                file.write(f"{stack} {round(ns / 1e3)}\n".encode())


def write_speedscope(path: str | os.PathLike[str], name: str, rows: np.ndarray, frames: Mapping[int, Frames]) -> None:
    """Write stacks for speedscope: one profile for each rank, in ns.

    Args:
        path: The new file.
        name: Path of the run; its last part is the title.
        rows: Records with fields `rank`, `path` and `ns`: the time of a call path in ns.
        frames: Frames of each path.

    Raises:
        TracelibError: The file cannot be written.

    Source: https://www.speedscope.app/file-format-schema.json.
    """
    numbers: dict[tuple[str, str], int] = {}
    stacks = {
        of_path: [numbers.setdefault(frame, len(numbers)) for frame in reversed(found)]
        for of_path, found in frames.items()
    }
    profiles: list[dict[str, Any]] = []
    for rank in np.unique(rows["rank"]).tolist():
        mine = rows[rows["rank"] == rank]
        weights = [round(ns) for ns in mine["ns"].tolist()]
        profiles.append(
            {
                "type": "sampled", "name": f"rank {rank}", "unit": "nanoseconds", "startValue": 0,
                "endValue": sum(weights), "samples": [stacks[p] for p in mine["path"].tolist()], "weights": weights,
            }
        )  # fmt: skip
    whole = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": Path(name).name,
        "exporter": "tracelib",
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(*frame) for frame in numbers]},
        "profiles": profiles,
    }
    with whole_file(path) as file:
        file.write(json.dumps(whole).encode())


def _plain(function: str) -> str:
    return " ".join(function.replace(";", ":").split()) or UNKNOWN


def _frame(function: str, where: str) -> dict[str, Any]:
    file, _, line = where.rpartition(":")
    return {"name": function or UNKNOWN} | ({"file": file, "line": int(line)} if file and line.isdigit() else {})


WIDTH, HEIGHT, TOP, BOTTOM, MARGIN = 1200, 17, 46, 30, 10
LETTER = 7.0
"""Approximate width of a letter in pixels."""
LEAST = 0.3
"""Width in pixels below which a box is left out."""
DEEPEST = 400


@dataclass
class FlameBox:
    """Box of a function in a flame graph, drawn above the box of its caller.

    Attributes:
        ns: Time in ns of the stacks that contain the box.
        other_ns: Time in ns of these stacks in the run that is compared.
        places: Time in ns by `file:line` in the function.
        above: Boxes of the functions that it calls.
    """

    name: str
    ns: float = 0.0
    other_ns: float = 0.0
    places: dict[str, float] = field(default_factory=dict)  # ns by `file:line` in the function
    above: dict[str, FlameBox] = field(default_factory=dict)

    def grow(self, frames: Frames, ns: float, *, other: bool = False) -> None:
        """Add a stack with its time in ns. `other` adds it to the time of the compared run."""
        box = self
        box._add("", ns, other)
        for function, where in list(reversed(frames))[:DEEPEST]:
            name = function or UNKNOWN
            box = box.above.setdefault(name, FlameBox(name))
            box._add(where, ns, other)

    def _add(self, where: str, ns: float, other: bool) -> None:
        if other:
            self.other_ns += ns
            return
        self.ns += ns
        if where:
            self.places[where] = self.places.get(where, 0.0) + ns

    def depth(self) -> int:
        """Return the number of levels of boxes."""
        level, depth = [self], 0
        while level:
            level, depth = [box for below in level for box in below.above.values() if box.ns], depth + 1
        return depth


def tree(
    rows: np.ndarray, frames: Mapping[int, Frames], other: np.ndarray | None, other_frames: Mapping[int, Frames]
) -> FlameBox:
    """Build the boxes of a run above one root box, "all".

    Args:
        rows: Records with fields `path` and `ns`.
        frames: Frames of each path.
        other: Records of a second run to compare with. None: no comparison.
        other_frames: Frames of each path of the second run.
    """
    root = FlameBox("all")
    for path, ns in zip(rows["path"].tolist(), rows["ns"].tolist(), strict=True):
        root.grow(frames[path], ns)
    if other is not None:
        for path, ns in zip(other["path"].tolist(), other["ns"].tolist(), strict=True):
            root.grow(other_frames[path], ns, other=True)
    return root


def write_flame(path: str | os.PathLike[str], root: FlameBox, title: str, subtitle: str, *, compared: bool) -> None:
    """Write the flame graph.

    Args:
        path: The new file.
        root: The boxes.
        title: First line of the picture.
        subtitle: Second line of the picture.
        compared: True: red boxes take more time than in the other run, blue boxes less.

    Raises:
        TracelibError: The file cannot be written.
    """
    height = TOP + root.depth() * HEIGHT + BOTTOM
    with whole_file(path) as file:
        file.write(_HEAD.format(width=WIDTH, height=height, title=escape(title), subtitle=escape(subtitle)).encode())
        for text in _boxes(root, height, compared):
            file.write(text.encode())
        file.write(_END.encode())


def _boxes(root: FlameBox, height: int, compared: bool) -> Iterator[str]:
    per_ns = (WIDTH - 2 * MARGIN) / root.ns if root.ns else 0.0
    waiting: list[tuple[FlameBox, float, int]] = [(root, MARGIN, 0)]
    while waiting:
        box, left, level = waiting.pop()
        width = box.ns * per_ns
        if width < LEAST:
            continue
        yield _drawn(box, left, height - BOTTOM - (level + 1) * HEIGHT, width, root, compared)
        for name in sorted(box.above):
            waiting.append((box.above[name], left, level + 1))
            left += box.above[name].ns * per_ns


def _drawn(box: FlameBox, left: float, top: int, width: float, root: FlameBox, compared: bool) -> str:
    share = box.ns / root.ns
    lines = sorted(box.places.items(), key=lambda item: -item[1])
    said = f"{box.name}: {box.ns / 1e9:.3f} s, {share:.1%}"
    if compared:
        said += f" (other run: {box.other_ns / 1e9:.3f} s, {box.ns - box.other_ns:+.0f} ns)".replace(
            f"{box.ns - box.other_ns:+.0f} ns", f"{(box.ns - box.other_ns) / 1e9:+.3f} s"
        )
    said += "".join(f"\n{where}: {ns / root.ns:.1%}" for where, ns in lines[:8])
    room = int((width - 6) / LETTER)
    label = box.name if len(box.name) <= room else f"{box.name[: room - 2]}.." if room > 3 else ""
    return (
        f'<g class="f" data-n="{escape(box.name, _QUOTE)}"><title>{escape(said)}</title>'
        f'<rect x="{left:.2f}" y="{top}" width="{max(width - 0.4, 0.2):.2f}" height="{HEIGHT - 1}" rx="1"'
        f' fill="{_difference(box, root) if compared else _colour(box.name)}"/>'
        f'<text x="{left + 3:.2f}" y="{top + 12}">{escape(label)}</text></g>\n'
    )


def _colour(name: str) -> str:
    """Return a warm colour that depends only on the name of the function."""
    number = zlib.crc32(name.encode())
    return f"rgb({205 + number % 50},{90 + number // 50 % 120},{40 + number // 6000 % 40})"


def _difference(box: FlameBox, root: FlameBox) -> str:
    """Return a colour for a change: white for none, full red or blue for a tenth of the run more or less."""
    change = max(-1.0, min(1.0, (box.ns - box.other_ns) / (0.1 * max(root.ns, 1.0))))
    pale = round(245 * (1 - 0.75 * abs(change)))
    return f"rgb(245,{pale},{pale})" if change >= 0 else f"rgb({pale},{pale},245)"


_QUOTE = {'"': "&quot;"}
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<style>text {{font: 12px monospace; fill: #111}} .title {{font-size: 15px}} .f:hover rect {{stroke: #000}}
.f {{cursor: pointer}} .dim rect {{opacity: 0.25}} .found rect {{fill: #c040ff}}</style>
<rect width="{width}" height="{height}" fill="#fffdf5"/>
<text class="title" x="10" y="20">{title}</text><text x="10" y="38">{subtitle}</text>
<text id="search" x="{width}" y="20" dx="-10" text-anchor="end" style="cursor:pointer">search</text>
<text id="said" x="{width}" y="38" dx="-10" text-anchor="end"></text>
"""
_END = """<script><![CDATA[
(function () {
  var boxes = Array.from(document.querySelectorAll(".f")), said = document.getElementById("said");
  var all = boxes.map(function (g) {
    var r = g.querySelector("rect");
    return {g: g, r: r, t: g.querySelector("text"), x: +r.getAttribute("x"), y: +r.getAttribute("y"),
            w: +r.getAttribute("width"), label: g.querySelector("text").textContent, n: g.dataset.n};
  });
  var left = all[0].x, width = all[0].w, zoomed = false;
  function show(from, wide, low) {
    all.forEach(function (b) {
      var below = b.y > low, inside = b.x < from + wide - 0.05 && b.x + b.w > from + 0.05;
      b.g.style.display = inside ? "" : "none";
      if (!inside) return;
      var x = Math.max(b.x, from), end = Math.min(b.x + b.w, from + wide), scale = width / wide;
      var w = (end - x) * scale, room = Math.floor((w - 6) / 7);
      b.r.setAttribute("x", left + (x - from) * scale);
      b.r.setAttribute("width", Math.max(w, 0.2));
      b.t.setAttribute("x", left + (x - from) * scale + 3);
      b.t.textContent = b.n.length <= room ? b.n : room > 3 ? b.n.slice(0, room - 2) + ".." : "";
      b.g.classList.toggle("dim", below && wide < width);
    });
  }
  all.forEach(function (b) {
    b.g.addEventListener("click", function () { show(b.x, b.w, b.y); });
  });
  document.getElementById("search").addEventListener("click", function () {
    var wanted = prompt("Functions whose names have (a regular expression)"), sum = 0, shown = [];
    if (wanted === null) return;
    var pattern = null;
    try {
      pattern = wanted ? new RegExp(wanted) : null;
    } catch (error) {
      said.textContent = wanted + " is not a regular expression";
      return;
    }
    all.forEach(function (b) {
      var found = pattern && pattern.test(b.n);
      b.g.classList.toggle("found", !!found);
      if (found && !shown.some(function (s) { return s.x <= b.x && s.x + s.w >= b.x + b.w; })) {
        shown.push(b);
        sum += b.w;
      }
    });
    said.textContent = pattern ? wanted + ": " + (100 * sum / width).toFixed(1) + " %" : "";
  });
})();
]]></script>
</svg>
"""
