"""The table of docs/validation.md, which the leg writes between its marks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from apps.application import Application
from apps.checks import Messages
from apps.commands import Numbers
from apps.cost import Cost
from apps.debian import version
from apps.measure import ROOT, Measured
from apps.registry import BY_NAME
from matrix import Leg

PAGE = ROOT / "docs" / "validation.md"
BEGIN, END = "<!-- make apps -->", "<!-- end -->"
HEAD = (
    "program",
    "MPI, ranks",
    "date",
    "untraced",
    "traced",
    "time",
    "procedures",
    "calls",
    "of them folded",
    "receives counted",
    "messages matched",
    "shortest message",
    "parallel efficiency",
    "on an ideal machine",
    "iterations",
    "first finding",
)


@dataclass(frozen=True)
class Row:
    """An application under one MPI, all of whose checks passed."""

    application: Application
    leg: Leg
    measured: Measured
    cost: Cost
    messages: Messages
    numbers: dict[str, Numbers]  # by command

    def cells(self) -> list[str]:
        """In the order of HEAD."""
        files = self.measured.rank_files
        calls = sum(file.counts().total() for file in files)
        procedures = len({name for file in files for name in file.counts()})
        receives = sum(counted["receives"] for counted in self.measured.counted)
        look, replay = self.numbers["info"], self.numbers.get("replay")
        return [
            f"{self.application.name} {version(self.application.packages[0])}: {self.application.title}",
            f"{library(files[0].attributes['mpi_library'].decode())}, {self.measured.ranks}",
            date.today().isoformat(),
            f"{self.cost.untraced_s:.2f} s",
            f"{self.cost.traced_s:.2f} s",
            f"{look['runtime_s']:.2f} s",
            str(procedures),
            spaced(calls),
            spaced(calls - sum(len(file.calls) for file in files)),
            spaced(receives),
            spaced(self.messages.matched),
            "-" if self.messages.shortest_ns is None else f"{spaced(self.messages.shortest_ns)} ns",
            f"{look['efficiency']['parallel_efficiency']:.1%}",
            "-" if replay is None else f"{replay['predicted_s']:.3f} s",
            str(self.numbers["structure"]["iterations"] or "-"),
            _first_finding(look),
        ]


def _first_finding(look: Numbers) -> str:
    """Return the finding that costs most in the first look, and its share of the run."""
    finding = next((finding for finding in look["findings"] if finding["shown"]), None)
    if finding is None:
        return "-"
    call = f" ({finding['call']})" if finding["call"] else ""
    return f"{finding['kind']}{call}: {finding['share']:.1%}"


def spaced(number: int) -> str:
    """With a space at the thousands."""
    return f"{number:,}".replace(",", " ")


def library(text: str) -> str:
    """Name and version of an MPI from what it says of itself."""
    found = re.match(r"(Open MPI|MPICH)\D*([\d.]+)", text)
    return f"{found[1]} {found[2]}" if found else text


def write(row: Row) -> None:
    """Put a row into the table, in place of the one that is there of the same program under the same MPI."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    table, _, after = rest.partition(END)
    written = {_identity(line): line for line in table.splitlines()[3:]}
    line = f"| {' | '.join(row.cells())} |"
    written[_identity(line)] = line
    order = {name: place for place, name in enumerate(BY_NAME)}
    body = sorted(written, key=lambda key: (order.get(key[0], len(order)), key[1] != "Open MPI"))
    lines = [BEGIN, f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}", *(written[key] for key in body), END]
    PAGE.write_text(before + "\n".join(lines) + after)


def _identity(line: str) -> tuple[str, str]:
    """Program and MPI of a line of the table, without their versions."""
    program, mpi = line.split(" | ")[:2]
    return program.removeprefix("| ").split()[0], re.sub(r" [\d.]+,.*", "", mpi)
