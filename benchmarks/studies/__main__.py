"""Runs the studies, prints their table, and writes it into docs/studies.md."""

from __future__ import annotations

import os
import shutil
from datetime import date

from benchmarks.mpi import ROOT, find, processor
from benchmarks.studies import products, sizes
from benchmarks.studies.shown import HEAD

PAGE = ROOT / "docs" / "studies.md"
BEGIN, END = "<!-- make study -->", "<!-- end -->"


def main() -> None:
    mpi = find()
    lines = [f"{processor()}, {os.cpu_count()} cores, {mpi.version}, {date.today()}", "", *HEAD.splitlines()]
    parts = [sizes] if shutil.which("valgrind") is None else [products, sizes]
    for part in parts:
        for row in part.rows(mpi):
            print(row.line, flush=True)
            lines.append(row.line)
    text = PAGE.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}")


if __name__ == "__main__":
    main()
