"""Regions, parameters, events and names of C, Fortran and Python programs against what the programs noted."""

import json
from collections import Counter
from pathlib import Path

import pytest
from conftest import source_of
from region_notes import TRACERS_OWN, compile_flags, in_any_order, noted, recorded

from analyzer.opening import open_trace
from analyzer.sources.paraver.labels import read_labels
from analyzer.trace.paraver import EventType
from tracelib import schema
from tracelib.launchers import INCLUDE
from tracelib.schema import LabelKind


def in_paraver(notes: list[list], labels: dict[int, tuple[str, dict[int, str]]]) -> list[list[int]]:
    """The (type, value) that the .prv has to have for what a thread noted, by the labels of the .pcf."""
    region = {name: value for value, name in labels[schema.REGION_TYPE][1].items()}
    parameter = {name.removeprefix("Parameter "): kind for kind, (name, _) in labels.items() if "Parameter" in name}
    stack: list[str] = []
    found = []
    for kind, *values in notes:
        if kind == "begin":
            stack.append(values[0])
            found.append([schema.REGION_TYPE, region[values[0]]])
        elif kind == "end" and (values[0] in stack or (stack and not values[0])):
            while stack.pop() != values[0] and values[0]:
                found.append([schema.REGION_TYPE, 0])
            found.append([schema.REGION_TYPE, 0])
        elif kind == "real":
            found.append([parameter[f"{values[0]} (millionths)"], round(values[1] * 1e6)])
        elif kind == "integer":
            found.append([parameter[values[0]], values[1]])
        elif kind == "parallel":
            found.append([schema.PARALLEL_TYPE, values[0]])
        elif kind == "event":
            found.append(values)
    return found + [[schema.REGION_TYPE, 0]] * len(stack)


def paraver_events(path: Path, rank: int) -> list[list[list[int]]]:
    """Return the (type, value) of each thread of a rank in a .prv, without MPI's and the tracer's events."""
    threads: dict[int, list[list[int]]] = {}
    for line in path.read_text().splitlines():
        kind, *numbers = line.split(":")
        if kind != "2" or int(numbers[2]) != rank + 1:
            continue
        pairs = [[int(a), int(b)] for a, b in zip(numbers[5::2], numbers[6::2], strict=True)]
        own = [
            pair
            for pair in pairs
            if not 40000000 <= pair[0] < 49000000 and pair[0] not in TRACERS_OWN and not 50000000 <= pair[0] < 60000000
        ]
        own = [pair for pair in own if pair[0] != EventType.ORIGIN]
        threads.setdefault(int(numbers[3]), []).extend(own)
    return list(threads.values())


SHARED_BURST, EAGER_LIMIT = 49000013, 49000014
"""Type of the events of a .dim that say how many threads share the burst before."""


def check_dimemas(path: Path, rank: int, notes: list[list[list]], labels: dict) -> None:
    """The .dim has the regions of the main thread (its notes are the first) in their order, and everybody's events; of
    bursts in parallel regions it says how many threads share them."""
    records = [line.split(":") for line in path.read_text().splitlines() if line.startswith(f"20:{rank}:")]
    written = [[int(kind), int(value)] for *_, kind, value in records]
    expected = [in_paraver(thread, labels) for thread in notes]
    threads = {value for kind, value in expected[0] if kind == schema.PARALLEL_TYPE and value > 1}
    assert {value for kind, value in written if kind == SHARED_BURST} == threads
    found = [pair for pair in written if pair[0] not in (SHARED_BURST, EAGER_LIMIT)]
    of_regions = {schema.REGION_TYPE, schema.PARALLEL_TYPE, *(kind for kind in labels if 491 <= kind // 10**5 <= 492)}
    assert [pair for pair in found if pair[0] in of_regions] == [p for p in expected[0] if p[0] in of_regions]
    events = [pair for thread in expected for pair in thread if pair[0] not in of_regions]
    assert sorted(pair for pair in found if pair[0] not in of_regions) == sorted(events)


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_c(request, compiled, traced, analyze, mpi_name):
    """Four threads at once and the main one, before MPI_Init and after MPI_Finalize, through many flushes."""
    leg = request.getfixturevalue(mpi_name)
    run = traced(leg, compiled(leg, "regions.c", *compile_flags()), ranks=2)
    for rank, file in enumerate(run.ranks):
        threads = recorded(file)
        notes = noted(run.folder, rank)
        assert len(notes) == 5
        assert threads[0] == notes[0]
        assert in_any_order(threads.values()) == in_any_order(notes)
        assert file.counts()["MPI_Barrier"] == 20
        assert file.attributes["lost_rows"] == 0
        labels = file.tables["labels"]
        events = [row.tolist() for row in labels[labels["kind"] >= LabelKind.EVENT_TYPE][["type", "value", "name"]]]
        assert events == [(7, 0, b"Step of the program"), (7, 1, b"before"), (7, 2, b"wrong"), (7, 2, b"after")]
    assert run.finished.stderr.count("types from 40000000 to 69999999 belong to the tracer") == 2
    analyze("prv", run.run).check()
    analyze("dim", run.run).check()
    labels, problems = read_labels(run.folder / "run.pcf")
    assert not problems
    for rank in range(2):
        expected = [in_paraver(notes, labels) for notes in noted(run.folder, rank)]
        assert in_any_order(paraver_events(run.folder / "run.prv", rank)) == in_any_order(expected)
        check_dimemas(run.folder / "run.dim", rank, noted(run.folder, rank), labels)
    found = json.loads(analyze("efficiency", "--by", "region", "--json", run.run).check().stdout)["regions"]
    begun = Counter(
        note[1] for rank in range(2) for notes in noted(run.folder, rank) for note in notes if note[0] == "begin"
    )
    assert {one["name"]: one["visits"] for one in found} == begun
    said = analyze("check", run.run).stdout
    text = (
        "regions: 2 x ended but never begun, 1 x ended only by the end of an outer one, 1 x open when its thread ended"
    )
    assert said.splitlines() == [f"rank {rank}: {text}" for rank in range(2)]


def test_not_traced(openmpi, compiled, launch, tmp_path):
    """The same program without the library, and with one that is switched off, does the same and leaves nothing."""
    program = compiled(openmpi, "regions.c", *compile_flags())
    launch(openmpi, program, ranks=1, preload=False).check()
    alone = noted(tmp_path, 0)
    assert launch(openmpi, program, ranks=1, env={"TRACELIB_DISABLE": "1"}).check().stderr == ""
    assert noted(tmp_path, 0) == alone
    assert not list(tmp_path.glob("run*"))


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_fortran(request, compiled, traced, launch, analyze, tmp_path, mpi_name):
    leg = request.getfixturevalue(mpi_name)
    program = compiled(leg, "region_api.f90", "-I", str(INCLUDE), "-J", str(tmp_path))
    run = traced(leg, program, ranks=2)
    for rank, file in enumerate(run.ranks):
        assert list(recorded(file).values()) == noted(run.folder, rank)
        assert file.counts()["MPI_Barrier"] == 1
    labels = open_trace(str(run.run)).event_labels
    assert labels[1000] == ("Step", {3: "third", -5000000000: "far away"})
    analyze("dim", run.run).check()
    for rank in range(2):
        check_dimemas(run.folder / "run.dim", rank, noted(run.folder, rank), labels)
    launch(leg, program, ranks=1, preload=False).check()


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_python(request, traced, analyze, mpi_name):
    """MPI is imported after the first regions, by when each rank has a file."""
    leg = request.getfixturevalue(mpi_name)
    run = traced(leg, leg.python, str(source_of("region_api.py")), ranks=2)
    assert run.finished.stderr.count("was left out") == 2
    assert [path.name for path in run.folder.glob("run*.h5")] == ["run.h5"]
    for rank, file in enumerate(run.ranks):
        threads = recorded(file)
        assert threads[0] == noted(run.folder, rank)[0]
        assert in_any_order(threads.values()) == in_any_order(noted(run.folder, rank))
        assert file.counts()["MPI_Barrier"] == 1
    labels = open_trace(str(run.run)).event_labels
    assert labels[1000] == ("Step", {3: "third"})
    analyze("dim", run.run).check()
    for rank in range(2):
        check_dimemas(run.folder / "run.dim", rank, noted(run.folder, rank), labels)
