"""The names beside a Paraver trace (.row): CPUs, nodes and threads, each level with its true number of lines.

Source: Paraver names file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from analyzer.trace import Trace
from analyzer.whole import whole_file
from analyzer.writers.prv import application_of


def _level(name: str, labels: list[str]) -> str:
    return f"LEVEL {name} SIZE {len(labels)}\n" + "".join(f"{label}\n" for label in labels)


def _levels(trace: Trace) -> Iterator[str]:
    total = sum(trace.nodes.cpus)
    if total:
        nodes = [node for node, cpus in zip(trace.nodes.names, trace.nodes.cpus, strict=True) for _ in range(cpus)]
        width = len(str(total))
        yield _level("CPU", [f"{cpu:0{width}}.{node}" for cpu, node in enumerate(nodes, start=1)])
        yield _level("NODE", list(trace.nodes.names))
    columns = zip(*application_of(trace), trace.threads, strict=True)
    threads = [f"THREAD {a}.{task}.{n + 1}" for a, task, count in columns for n in range(count)]
    yield _level("THREAD", threads)


def write_row(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the .row of a trace. Raises TracelibError where the file cannot be written."""
    with whole_file(path) as file:
        file.write("\n".join(_levels(trace)).encode())
