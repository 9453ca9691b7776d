"""The table of docs/validation.md, which the leg writes between its marks."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from apps.application import Application
from apps.checks import Messages
from apps.commands import Numbers
from apps.debian import version
from apps.measure import ROOT, Measured
from matrix import Leg

PAGE = ROOT / "docs" / "validation.md"
BEGIN, END = "<!-- make apps -->", "<!-- end -->"
HEAD = (
    "program",
    "MPI, ranks",
    "time",
    "procedures",
    "calls",
    "of them folded",
    "receives counted",
    "messages matched",
    "shortest message",
    "parallel efficiency",
    "on an ideal machine",
)


@dataclass(frozen=True)
class Row:
    """An application under one MPI, all of whose checks passed."""

    application: Application
    leg: Leg
    measured: Measured
    messages: Messages
    numbers: dict[str, Numbers]  # by command

    def cells(self) -> list[str]:
        """In the order of HEAD."""
        files = self.measured.rank_files
        calls = sum(file.counts().total() for file in files)
        procedures = len({name for file in files for name in file.counts()})
        receives = sum(counted["receives"] for counted in self.measured.counted)
        look, replay = self.numbers["info"], self.numbers["replay"]
        return [
            f"{self.application.name} {version(self.application.packages[0])}: {self.application.title}",
            f"{library(files[0].attributes['mpi_library'].decode())}, {self.measured.ranks}",
            f"{look['runtime_s']:.2f} s",
            str(procedures),
            spaced(calls),
            spaced(calls - sum(len(file.calls) for file in files)),
            spaced(receives),
            spaced(self.messages.matched),
            "-" if self.messages.shortest_ns is None else f"{spaced(self.messages.shortest_ns)} ns",
            f"{look['efficiency']['parallel_efficiency']:.1%}",
            f"{replay['predicted_s']:.3f} s",
        ]


def spaced(number: int) -> str:
    """With a space at the thousands."""
    return f"{number:,}".replace(",", " ")


def library(text: str) -> str:
    """Name and version of an MPI from what it says of itself."""
    found = re.match(r"(Open MPI|MPICH)\D*([\d.]+)", text)
    return f"{found[1]} {found[2]}" if found else text


def write(rows: list[Row]) -> Path:
    """Replace what stands between the marks."""
    machine = f"{os.cpu_count()} cores, Linux {platform.release()}, {date.today()}"
    lines = [BEGIN, machine, "", f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"]
    lines += [f"| {' | '.join(row.cells())} |" for row in rows]
    text = PAGE.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(before + "\n".join([*lines, END]) + after)
    return PAGE
