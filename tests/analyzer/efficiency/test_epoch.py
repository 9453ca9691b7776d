"""Real Extrae traces of the EPOCH code give the figures that were published for them.

Useful computation is the sum of the records of state 1, the runtime the header's final time; load balance is the
average over the maximum of the useful times, communication efficiency the maximum over the runtime.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from grammar import check_prv
from paths import EPOCH

from analyzer.sources.paraver.trace import open_prv
from analyzer.trace import State
from analyzer.writers.paraver_labels import write_pcf, write_row
from analyzer.writers.prv import write_prv

pytestmark = pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not beside this repository")

PROCESSES = (1, 2, 4)


@pytest.fixture(scope="module", params=PROCESSES)
def trace(request):
    trace = open_prv(EPOCH / f"epoch_{request.param}proc.prv.gz")
    yield trace
    trace.close()


def expected(processes: int) -> dict[str, str]:
    """Published figures by name, as printed."""
    with (EPOCH / "expected.csv").open() as file:
        head, *rows = csv.reader(file, delimiter=";")
    column = head.index(str(processes))
    return {row[0].lstrip("#"): row[column] for row in rows}


def as_printed(value: float, like: str) -> str:
    return f"{value:.{len(like.partition('.')[2])}f}"


def useful_ns(trace) -> np.ndarray:
    useful = np.zeros(trace.size, np.int64)
    for begin, end in pairwise(trace.windows(1000).tolist()):
        states = trace.states(begin, end)
        running = states[states["state"] == State.RUNNING]
        np.add.at(useful, running["rank"], running["end"] - running["begin"])
    return useful


def test_published_figures(trace):
    published = expected(trace.size)
    useful = useful_ns(trace)
    computed = {
        "Useful duration (total)": useful.sum() / 1e3,
        "Useful duration (maximum)": useful.max() / 1e3,
        "Useful duration (average)": useful.mean() / 1e3,
        "Runtime (us)": trace.duration_ns / 1e3,
        "Load balance": 100 * useful.mean() / useful.max(),
        "Communication efficiency": 100 * useful.max() / trace.duration_ns,
        "Parallel efficiency": 100 * useful.mean() / trace.duration_ns,
    }
    assert {name: as_printed(value, published[name]) for name, value in computed.items()} == {
        name: published[name] for name in computed
    }


def test_nothing_is_left_out(trace):
    assert trace.problems == []
    assert len(trace.communicators) == {1: 1, 2: 3, 4: 5}[trace.size]
    assert trace.nodes.names == ({1: "s19r2b64", 2: "s01r2b02", 4: "s04r2b68"}[trace.size],)
    assert (trace.origin.date.year, trace.origin.date.month, trace.origin.date.day, trace.origin.date.hour) == (
        2019,
        10,
        9,
        16,
    )


def raw_lines(trace) -> list[str]:
    with gzip.open(trace.path, "rt") as file:
        return file.read().splitlines()


def test_calls_are_as_many_as_a_count_of_the_text_says(trace):
    """Counted from the text alone: every MPI event with a value is one call."""
    counted: Counter[tuple[str, int]] = Counter()
    names = {
        "41": "MPI_Sendrecv",
        "1": "MPI_Send",
        "2": "MPI_Recv",
        "7": "MPI_Bcast",
        "8": "MPI_Barrier",
        "10": "MPI_Allreduce",
    }
    sizes = Counter()
    for line in raw_lines(trace):
        fields = line.split(":")
        if fields[0] == "2":
            pairs = dict(zip(fields[6::2], fields[7::2], strict=True))
            for event_type in ("50000001", "50000002"):
                if (value := pairs.get(event_type, "0")) != "0":
                    counted[names[value], int(fields[3]) - 1] += 1
            if pairs.get("50000002", "0") != "0":
                sizes["collective sent"] += int(pairs["50100001"])
        elif fields[0] == "3":
            sizes["messages"] += int(fields[13])
    found: Counter[tuple[str, int]] = Counter()
    moved = Counter()
    for rank in range(trace.size):
        for block in trace.calls(rank):
            for index, name in enumerate(trace.procedures):
                if name in names.values() and (block["call"] == index).any():
                    of_one = block[block["call"] == index]
                    found[name, rank] += len(of_one)
                    kind = "collective sent" if (of_one["comm"] >= 0).any() else "messages"
                    moved[kind] += int(of_one["sent"].sum())
            assert (block["exit"] >= block["enter"]).all()
    assert found == counted
    assert moved == sizes


def test_received_bytes_equal_sent_bytes_of_messages(trace):
    procedures = np.array(trace.procedures)
    for rank in range(trace.size):
        calls = np.concatenate(list(trace.calls(rank)))
        requests = np.concatenate(list(trace.requests(rank)))
        point_to_point = np.isin(procedures[calls["call"]], ("MPI_Sendrecv", "MPI_Recv"))
        arrived = trace.messages()
        arrived = arrived[arrived["destination"] == rank]
        assert calls["received"][point_to_point].sum() == arrived["size"].sum()
        sendrecv = procedures[calls["call"]] == "MPI_Sendrecv"
        assert requests["bytes"].sum() == calls["received"][sendrecv].sum()


def pieces(lines: list[str]) -> list[str]:
    """Sorted records, each pair of an event line for itself."""
    result = []
    for line in lines:
        fields = line.split(":")
        if fields[0] == "2":
            place = ":".join(fields[:6])
            result += [f"{place}:{t}:{v}" for t, v in zip(fields[6::2], fields[7::2], strict=True)]
        else:
            result.append(line)
    return sorted(result)


def test_written_again_it_is_the_same_trace(trace, tmp_path):
    write_prv(trace, tmp_path / "again.prv")
    write_pcf(trace, tmp_path / "again.pcf")
    write_row(trace, tmp_path / "again.row")
    again = open_prv(tmp_path / "again.prv")
    assert again.problems == []
    for table in ("states", "events", "messages"):
        np.testing.assert_array_equal(getattr(again, table)(), getattr(trace, table)())
    assert again.communicators == trace.communicators
    assert again.nodes.names == trace.nodes.names
    assert again.procedures == trace.procedures
    written = (tmp_path / "again.prv").read_text().splitlines()
    assert pieces(written) == pieces(raw_lines(trace))
    assert check_prv(tmp_path / "again.prv", strict=False) == []


def test_the_real_traces_keep_to_the_grammar(trace, tmp_path):
    """Extrae's traces pass our own checkers, except for order and roots."""
    (tmp_path / "x.prv").write_text("\n".join([*raw_lines(trace), ""]))
    assert check_prv(tmp_path / "x.prv", strict=False) == []
