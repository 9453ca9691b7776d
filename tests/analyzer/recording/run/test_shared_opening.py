"""A team shares the opening of rank files by their sizes; what a member has not opened reads as if it had."""

from dataclasses import fields

import numpy as np
import pytest
from synthetic import NONE, WORLD, call, event, label, write_run
from thread_team import by_team

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.heads import Heads
from analyzer.recording.run import rank_files
from analyzer.recording.run.opening import open_run
from analyzer.recording.run.rank_threads import RankThreads
from analyzer.trace import CallPaths, Losses, Regions, TracerTime
from analyzer.trace.chosen import Choice
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from tracelib import schema
from tracelib.schema import LabelKind, ProcessState

LARGE, REGIONS, GAP, LOST, KILLED, MISSING = 2, 3, 4, 5, 6, 7
MANY = 70_000
"""Calls of one rank, so many that time is cut into windows."""


def many():
    rows = np.zeros(MANY, schema.CALL)
    rows["enter"] = 10 + 10 * np.arange(MANY)
    rows["exit"] = rows["enter"] + 4
    rows["comm"], rows["peer"], rows["tag"], rows["call"] = NONE, -1, -1, 0
    return rows


def ranks():
    """One with most of all rows, one with regions, one that did not record all the time, one that lost calls, one that
    was killed."""
    few = [
        call("MPI_Send", 100, 110, comm=WORLD, peer=1, tag=1, sent=8),
        call("MPI_Barrier", 200, 300, comm=WORLD),
    ]
    found = [{"calls": [call("MPI_Barrier", 200, 280 + rank, comm=WORLD)]} for rank in range(8)]
    found[0] = {"calls": few}
    found[1] = {"calls": [call("MPI_Recv", 50, 120, comm=WORLD, peer=0, tag=1, received=8), few[1]]}
    found[LARGE] = {"calls": many(), "procedures": ["MPI_Comm_rank"]}
    found[REGIONS] |= {
        "events": [event(20, schema.REGION_TYPE, 1, flags=1), event(30, schema.REGION_TYPE, 1, flags=2)],
        "labels": [label(LabelKind.REGION, 1, "solve")],
    }
    found[GAP] |= {"events": [event(320, schema.TRACING_TYPE, 0), event(400, schema.TRACING_TYPE, 1)]}
    found[LOST] |= {"lost_calls": 3}
    found[KILLED] |= {"state": ProcessState.RECOVERED}
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    return str(write_run(folder, ranks(), missing=[MISSING]))


def everything(trace):
    """Return a trace's data by rank, of all ranks, and of the run."""
    size, losses = range(trace.size), trace.extra(Losses)
    return (
        [[block.tobytes() for block in trace.calls(rank)] for rank in size],
        [trace.windows_of(rank, 1000).tolist() for rank in size],
        [trace.span(rank) for rank in size],
        [losses.unrecorded(rank).tobytes() for rank in size],
        [losses.lost_calls(rank) for rank in size],
        [trace.extra(Regions).marks(rank).tobytes() for rank in size],
        [trace.extra(TracerTime).after_call_ns(rank) for rank in size],
        trace.states().tobytes(), trace.messages().tobytes(), trace.windows(1000).tolist(), losses.missing,
        losses.ending, losses.left_out, trace.extra(Regions).names, trace.problems, trace.communicators,
        trace.procedures, trace.duration_ns, trace.threads.tolist(), trace.event_labels, trace.nodes.names,
    )  # fmt: skip


@pytest.mark.parametrize("size", [2, 3, 10])
def test_members_have_what_one_process_has(run, size):
    alone = everything(open_run(run))
    assert any(alone[3][GAP]) and any(alone[5][REGIONS]) and alone[4][LOST] == 3 and alone[10] == (MISSING,)
    assert by_team(size, lambda team: everything(open_run(run, team))) == [alone] * size


def test_each_file_is_opened_by_one_member(run, monkeypatch):
    """Whatever is read later. Who has the large file has no other one."""
    opened, real = [], rank_files.open_rank
    monkeypatch.setattr(rank_files, "open_rank", lambda *args: opened.append(args[0]) or real(*args))

    def work(team):
        trace = open_run(run, team)
        everything(trace)
        return trace.share(team), trace.share(Team())

    shares = by_team(3, work)
    assert sorted(place[-9:] for place in opened) == [f"{rank:06d}.h5" for rank in range(8)]
    assert [rank for own, _ in shares for rank in own] == list(range(8))
    assert range(LARGE, LARGE + 1) in [own for own, _ in shares]
    assert all(whole == range(8) for _, whole in shares)


def test_nobody_makes_threads_that_are_not_asked_for(tmp_path, monkeypatch):
    whole = str(write_run(tmp_path, [{"calls": [call("MPI_Barrier", 1, 2, comm=WORLD)]} for _ in range(6)]))
    made, real = [], RankThreads._make
    monkeypatch.setattr(RankThreads, "_make", lambda self, file: made.append(file.rank) or real(self, file))

    def work(team):
        trace = open_run(whole, team)
        trace.states(0, None, trace.share(team))
        trace.messages()
        return [trace.extra(Losses).unrecorded(rank).tolist() for rank in range(6)]

    assert by_team(2, work) == [[[]] * 6] * 2
    assert sorted(made) == list(range(6))


@pytest.mark.parametrize("chosen", ["0,5", "1-3"])
def test_of_chosen_ranks(run, chosen):
    choice = Choice.parse(chosen)
    alone = everything(open_run(run, options=ReadOptions(choice=choice)))
    assert by_team(2, lambda team: everything(open_run(run, team, ReadOptions(choice=choice)))) == [alone] * 2


@pytest.mark.parametrize("bad", [0, 3])
def test_all_members_say_what_one_process_says(tmp_path, bad):
    """A row that ends before it begins is refused when its file is opened."""
    rows = [[call("MPI_Barrier", 100, 200, comm=WORLD)] for _ in range(4)]
    rows[bad] = [call("MPI_Barrier", 20_000_000, 200, comm=WORLD)]
    whole = str(write_run(tmp_path, [{"calls": calls} for calls in rows]))

    def said(team):
        with pytest.raises(TracelibError) as error:
            open_run(whole, team)
        return str(error.value), error.value.hint

    alone = said(Team())
    assert f"{bad:06d}.h5" in alone[0]
    assert by_team(2, said) == [alone] * 2


def test_no_file_can_be_read(tmp_path):
    whole = write_run(tmp_path, [{}] * 3)
    for path in (tmp_path / "run.ranks").iterdir():
        path.write_bytes(b"")

    def said(team):
        with pytest.raises(TracelibError, match="no rank can be read") as error:
            open_run(str(whole), team)
        return str(error.value)

    assert by_team(2, said) == [said(Team())] * 2


def test_heads_are_the_files(run):
    """Field by field, and row by row of what is read later."""
    files = rank_files.find_ranks(run).files
    places = {file.rank: (file.place, file.group) for file in files}
    copies = Heads.of(files).files([places.get(rank, ("", "")) for rank in range(8)])
    for file, copy in zip(files, copies, strict=True):
        for field in (field.name for field in fields(RankFile) if field.name != "chunks"):
            mine, its = getattr(file, field), getattr(copy, field)
            assert (mine.tobytes(), mine.dtype) == (its.tobytes(), its.dtype) if hasattr(mine, "dtype") else mine == its
        for table, rows in file.lengths.items():
            if table in (*schema.BUFFERED, *schema.SOURCES):
                assert file.read(table, 0, rows).tobytes() == copy.read(table, 0, rows).tobytes()
                assert ends_of(copy, table) == ends_of(file, table) if rows else table not in copy.chunks
        assert set(copy.chunks) == set(file.chunks) and len(copy.chunks) == len(file.chunks)
    assert not Heads.of([]).files([])


def ends_of(file, table):
    ends = file.known_ends(table)
    return None if ends is None else ends.tobytes()


def with_paths(rng, rank):
    """A rank whose calls come from random chains; modules stand in another order in each file."""
    names = rng.permutation(["app", "liba", "libb"])[: rng.integers(1, 4)]
    modules = [(0, 0, 0, b"", b""), *((7, 8, 9, name.encode() * 2, f"/{name}".encode()) for name in names)]
    functions = [(0, 0, b"", b""), (3, 1, b"f", b"f.py"), (int(rank), 1, b"g", b"g.py")]
    paths = [(0, 0, 0)]
    for row in range(1, rng.integers(2, 30)):
        lost = rng.random() < 0.1
        python = schema.PATH_IN_FUNCTION | int(rng.integers(1, 3))
        module = 0 if lost else python if rng.random() < 0.3 else int(rng.integers(1, len(modules)))
        offset = schema.PATH_LOST if lost else int(rng.integers(1, 4))
        paths.append((int(rng.integers(0, row)), module, offset))
    return {
        "calls": [call("MPI_Barrier", 100, 200, comm=WORLD)],
        "paths": paths, "modules": modules, "functions": functions,
    }  # fmt: skip


def numbered(trace):
    tables = trace.extra(CallPaths).tables()
    rows = [trace._parts.paths.numbers(rank).tolist() for rank in range(trace.size)]
    return tables.paths.tobytes(), tables.modules.tobytes(), tables.functions.tobytes(), rows


@pytest.mark.parametrize("seed", range(4))
def test_paths_are_read_by_one_member(tmp_path, monkeypatch, seed):
    """And have the numbers that one process gives them."""
    rng = np.random.default_rng(seed)
    found = str(write_run(tmp_path, [with_paths(rng, rank) for rank in range(9)]))
    alone = numbered(open_run(found))
    assert len(alone[0]) > schema.PATH.itemsize * 20
    read, real = [], RankFile.read

    def reads(self, table, *given):
        read.append((table, self.rank))
        return real(self, table, *given)

    monkeypatch.setattr(RankFile, "read", reads)
    assert by_team(4, lambda team: numbered(open_run(found, team))) == [alone] * 4
    assert sorted(rank for table, rank in read if table == "paths") == list(range(9))


def test_paths_that_cannot_be_read_are_said_when_they_are_asked_for(tmp_path, monkeypatch):
    found = str(write_run(tmp_path, [with_paths(np.random.default_rng(rank), rank) for rank in range(4)]))
    real = RankFile.read

    def reads(self, table, *given):
        if (table, self.rank) == ("modules", 3):
            raise TracelibError("damaged")
        return real(self, table, *given)

    monkeypatch.setattr(RankFile, "read", reads)

    def work(team):
        trace = open_run(found, team)
        with pytest.raises(TracelibError, match="damaged"):
            numbered(trace)
        return trace.duration_ns

    assert len({*by_team(2, work)}) == 1


def test_a_packed_run_that_takes_the_place_of_another_one(tmp_path):
    """Whoever opens it anew reads nothing of the old one, which is still open."""
    for count, name in ((9000, "a"), (8000, "b")):
        calls = [call("MPI_Barrier", 100 * k, 100 * k + count % 70, comm=WORLD) for k in range(count)]
        (tmp_path / name).mkdir()
        assert (
            main(["pack", str(write_run(tmp_path / name, [{"calls": calls}] * 2)), "-o", str(tmp_path / f"{name}.h5")])
            == 0
        )
    old = open_run(str(tmp_path / "a.h5"))
    assert sum(map(len, old.calls(1))) == 9000
    (tmp_path / "b.h5").replace(tmp_path / "a.h5")
    new = open_run(str(tmp_path / "a.h5"))
    for rank in range(2):
        rows = np.concatenate(list(new.calls(rank)))
        assert len(rows) == 8000 and set((rows["exit"] - rows["enter"]).tolist()) == {8000 % 70}


def test_heads_of_a_packed_run(tmp_path):
    """Where deflated chunks lie is handed on as well."""
    calls = [call("MPI_Barrier", 100 * k, 100 * k + 50, comm=WORLD) for k in range(9000)]
    whole = write_run(tmp_path, [{"calls": calls[:rows]} for rows in (9000, 1, 0, 60)])
    assert main(["pack", str(whole), "-o", str(tmp_path / "packed.h5")]) == 0
    files = rank_files.find_ranks(str(tmp_path / "packed.h5")).files
    copies = Heads.of(files).files([(file.place, file.group) for file in files])
    for file, copy, rows in zip(files, copies, (9000, 1, 0, 60), strict=True):
        assert file.read("calls", 0, rows).tobytes() == copy.read("calls", 0, rows).tobytes()
        assert copy.chunks.keys() == file.chunks.keys() >= ({"calls"} if rows else set())
        for table, chunks in file.chunks.items():
            kept, sizes = copy.chunks[table], chunks.deflated
            assert (kept.at.tolist(), kept.rows) == (chunks.at.tolist(), chunks.rows)
            assert kept.deflated is None if sizes is None else kept.deflated.tolist() == sizes.tolist()
    assert [len(file.chunks["calls"].deflated) for file in (files[0], files[3])] == [3, 1]


def test_the_sizes_of_rank_0_hold(tmp_path):
    """Members that are asked for different sizes cut time in the same windows."""
    calls = [call("MPI_Barrier", 10 * k, 10 * k + 5, comm=WORLD) for k in range(1, 400)]
    path = str(write_run(tmp_path, [{"calls": calls}] * 4))

    def windows(team):
        trace = open_run(path, team, ReadOptions(sizes=ReadSizes(window_calls=100 * (1 + team.rank), block_calls=10)))
        return trace.sizes.window_calls, trace.windows().tolist()

    found = by_team(2, windows)
    assert found[0] == found[1] and found[0][0] == 100 and len(found[0][1]) > 10
