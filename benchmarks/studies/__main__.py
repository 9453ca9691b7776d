"""Runs the studies, prints their table, and writes it into docs/studies.md."""

from __future__ import annotations

import os
import shutil
from datetime import date

from benchmarks.mpi import ROOT, find, processor
from benchmarks.studies import broadcasts, products, sizes
from benchmarks.studies.shown import HEAD

PAGE = ROOT / "docs" / "studies.md"
END = "<!-- end -->"


def main() -> None:
    mpi = find()
    lines = [
        f"{processor()}, {os.cpu_count()} cores, {mpi.version.replace('(OpenRTE)', 'Open MPI')}, {date.today()}",
        "",
        *HEAD.splitlines(),
    ]
    parts = [sizes] if shutil.which("valgrind") is None else [products, sizes]
    for part in parts:
        for row in part.rows(mpi):
            print(row.line, flush=True)
            lines.append(row.line)
    _write("make study", lines)
    _write("make study: broadcasts", [*broadcasts.HEAD.splitlines(), *(line.line for line in broadcasts.lines())])


def _write(name: str, lines: list[str]) -> None:
    """Write the part of the page that has this name."""
    begin = f"<!-- {name} -->"
    before, _, rest = PAGE.read_text().partition(begin)
    PAGE.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
