"""Compare Dimemas and our replay on the same traces and machines: `python -m benchmarks.dimemas FOLDER`.

The folder holds traces (NAME.dim.gz), machines (NAME.cfg) and `expected.csv`: for each pair the execution time that
Dimemas printed, and, for each task, the number of receives that found their message and that waited.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from analyzer.machine.options import read_machine
from analyzer.opening import open_trace
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind
from analyzer.replay import Machine, ReplayPrediction, program_of, simulate

EAGER_LIMIT = 32 << 10
"""Eager limit in bytes: Dimemas was run with `-S 32k`."""
RECEIVES = (OperationKind.RECV, OperationKind.WAIT)


@dataclass(frozen=True)
class Compared:
    """One trace on one machine; times in ns."""

    trace: str
    machine: str
    dimemas_ns: int
    by_arrival_ns: int  # messages with the same tag received as they arrive, as in Dimemas
    ours_ns: int  # as they were sent, as MPI demands
    standard_ns: int  # in our own dialect
    spent_s: float  # by the prediction
    computation_off_ns: int  # the most that the computation of a task differs
    found_off: int  # receives that find their message in one of the two only: the most of any task

    @property
    def off(self) -> float:
        """By how much ours is longer, as a share; messages received as in Dimemas."""
        return self.by_arrival_ns / self.dimemas_ns - 1


def compare(folder: Path) -> Iterator[Compared]:
    """Compare all pairs of a folder."""
    programs: dict[str, Program] = {}
    with (folder / "expected.csv").open() as file:
        for row in csv.DictReader(file):
            if row["trace"] not in programs:
                programs[row["trace"]] = program_of(open_trace(str(folder / f"{row['trace']}.dim.gz")))
            yield _compared(row, programs[row["trace"]], read_machine(str(folder / f"{row['machine']}.cfg")).machine)


def _compared(row: dict[str, str], program: Program, machine: Machine) -> Compared:
    machine = replace(machine, eager_limit=EAGER_LIMIT)
    before = time.process_time()
    ours = simulate(program, machine)
    spent = time.process_time() - before
    as_there = simulate(program, replace(machine, matching="arrival"), times=True)
    tasks = range(program.ranks)
    computation = [round(float(row[f"computation{k}_s"]) * 1e9) for k in tasks]
    found = [int(row[f"immediate_recv{k}"]) for k in tasks]
    return Compared(
        row["trace"], row["machine"], round(float(row["execution_time_s"]) * 1e9), as_there.end_ns, ours.end_ns,
        simulate(program, replace(machine, dialect="standard")).end_ns, spent,
        max(abs(int(as_there.usage["computing"][k]) - computation[k]) for k in tasks),
        max(abs(n - found[k]) for k, n in enumerate(found_at_once(program, machine, as_there))),
    )  # fmt: skip


def found_at_once(program: Program, machine: Machine, prediction: ReplayPrediction) -> list[int]:
    """Count, for each rank, the receives that went on when their latency was paid: Dimemas counts them as immediate."""
    assert prediction.times is not None
    places = np.array(machine.place(program.ranks))
    node = machine.with_nodes(program.ranks)[0]
    found = []
    for rank in range(program.ranks):
        part = slice(program.offsets[rank], program.offsets[rank + 1])
        ops, times = program.ops[part], prediction.times[part]
        inside = places[ops["peer"]] == places[rank]
        pays = np.rint(np.where(inside, node.intra_latency_s, node.latency_s) * 1e9)  # type: ignore[arg-type]
        at_once = times["end"] - times["begin"] <= pays
        found.append(int((np.isin(ops["kind"], RECEIVES) & at_once).sum()))
    return found


def table(rows: list[Compared]) -> str:
    """Write the table in Markdown, the largest difference first."""
    lines = [
        "| trace | machine | Dimemas 5.5.0, s | ours, s | differs | as sent | standard | ms |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in sorted(rows, key=lambda row: -abs(row.off)):
        sent, standard = (f"{ns / row.dimemas_ns - 1:+.2%}" for ns in (row.ours_ns, row.standard_ns))
        lines.append(
            f"| {row.trace} | {row.machine} | {row.dimemas_ns / 1e9:.9f} | {row.by_arrival_ns / 1e9:.9f} "
            f"| {row.off:+.5%} | {sent} | {standard} | {row.spent_s * 1e3:.1f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "expected.csv").exists():
        sys.exit("python -m benchmarks.dimemas FOLDER: a folder with expected.csv, traces and machines")
    print(table(list(compare(Path(sys.argv[1])))))
