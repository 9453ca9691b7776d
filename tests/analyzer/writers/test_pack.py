"""A packed run holds the same rows as its rank files, and every analysis says the same of it."""

import json
import shutil

import h5py
import numpy as np
import pytest
from synthetic import FIRST, WORLD, call, event, flush, poll, request, write_run

import analyzer
from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.places import ModuleNames, NameCache, places_file, write_names
from analyzer.places.modules import LoadedModule
from analyzer.places.name_table import Frame, PlaceFrames
from analyzer.recording.rank_file import file as rank_file
from analyzer.recording.run.rank_files import find_ranks
from analyzer.trace.read_sizes import ReadSizes
from analyzer.writers.hdf5_groups import CODECS
from analyzer.writers.packed import pack_run
from tracelib import schema
from tracelib.schema import ProcessState, RequestKind

ROWS = 70_000
"""More than two chunks of the packed file."""


def random_run(folder, seed=1, **attributes):
    """Two ranks with many rows of any value, a communicator, polls, flushes and completions."""
    rng = np.random.default_rng(seed)
    ranks = []
    for rank in range(2):
        calls = np.zeros(ROWS, schema.CALL)
        calls["enter"] = 100 * np.arange(ROWS) + rng.integers(0, 40, ROWS)
        calls["exit"] = calls["enter"] + rng.integers(1, 50, ROWS).astype(np.uint64)
        for column in ("sent", "received"):
            calls[column] = rng.integers(0, 2**40, ROWS)
        calls["comm"], calls["peer"], calls["tag"] = WORLD, rng.integers(-1, 2, ROWS), rng.integers(-1, 9, ROWS)
        calls["call"] = rng.integers(0, 2, ROWS)
        ranks.append(
            {
                "procedures": ["MPI_Barrier", "MPI_Wtime"],
                "calls": calls,
                "requests": [request(RequestKind.COLLECTIVE_DONE, 10, 20, comm=FIRST, peer=-1)],
                "polls": [poll("MPI_Test", 7, 9, inside=1, count=1000)],
                "events": [event(5, 7, -rank), *flush(100 * ROWS + 200, 100 * ROWS + 300)],
            }
            | attributes
        )
    return write_run(folder, ranks, communicators=[[1, 0]])


def tables_of(path):
    """Attributes and tables of all ranks; those that the file leaves out are empty."""
    with h5py.File(path) as file:
        return [
            (
                {k: np.asarray(v).astype(object).tolist() for k, v in sorted(group.attrs.items())},
                {t: group[t][:].tobytes() if t in group else b"" for t in schema.TABLES},
            )
            for group in (file[f"ranks/{rank:06d}"] for rank in range(2))
        ]


@pytest.mark.parametrize("codec", CODECS)
def test_plain_h5py_reads_the_same_values(tmp_path, codec):
    run = random_run(tmp_path)
    packed = pack_run(str(run), tmp_path / "packed.h5", codec)
    before, after = tables_of(run), tables_of(tmp_path / "packed.h5")
    for (attributes, tables), (packed_attributes, packed_tables) in zip(before, after, strict=True):
        assert attributes == packed_attributes
        assert tables == packed_tables
    with h5py.File(run) as a, h5py.File(tmp_path / "packed.h5") as b:
        assert a["ranks/000001/procedures"][:].tolist() == b["procedures"][:].tolist()
    assert packed.calls == 2 * (ROWS + 1000)
    assert packed.size_bytes == (tmp_path / "packed.h5").stat().st_size < packed.before_bytes


def test_every_command_says_the_same_of_it(tmp_path, capsys):
    run = random_run(tmp_path)
    assert main(["pack", str(run), "-q"]) == 0
    packed = tmp_path / "run-packed.h5"
    assert capsys.readouterr().out == ""
    for command in (["look", "--no-files", "--json"], ["check"], ["efficiency", "--json"]):
        texts = []
        for path in (run, packed):
            main([command[0], str(path), *command[1:]])
            texts.append(capsys.readouterr().out.replace(str(path), "FILE"))
        assert texts[0] == texts[1] != ""
    assert main(["prv", str(run), "-o", str(tmp_path / "a")]) == main(["prv", str(packed), "-o", str(tmp_path / "b")])
    assert (tmp_path / "a.prv").read_bytes().splitlines()[1:] == (tmp_path / "b.prv").read_bytes().splitlines()[1:]


def test_json(tmp_path, capsys):
    run = random_run(tmp_path)
    assert main(["pack", str(run), "--json", "-o", str(tmp_path / "small.h5")]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["path"] == str(tmp_path / "small.h5")
    assert said["calls"] == 2 * (ROWS + 1000)
    assert said["bytes_per_call"] == said["bytes"] / said["calls"]
    assert said["ranks"] == 2


def test_nothing_is_replaced_by_accident(tmp_path, capsys):
    run = random_run(tmp_path)
    (tmp_path / "run-packed.h5").write_text("mine")
    assert main(["pack", str(run)]) == 1
    assert "exists" in capsys.readouterr().err
    assert main(["pack", str(run), "-f", "-o", str(run)]) == 1
    assert "is the run that is read" in capsys.readouterr().err
    assert (tmp_path / "run-packed.h5").read_text() == "mine"
    assert main(["pack", str(run), "-f"]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run-packed.h5", "run.h5", "run.ranks"]


def test_a_killed_rank_is_recovered_first(tmp_path):
    run = random_run(tmp_path, state=ProcessState.RECORDING)
    with pytest.raises(TracelibError, match="rank 0 was killed or is still running"):
        pack_run(str(run), tmp_path / "packed.h5")
    assert not (tmp_path / "packed.h5").exists()


def test_a_run_with_a_missing_rank_is_not_packed(tmp_path):
    run = random_run(tmp_path)
    (tmp_path / "run.ranks" / "000001.h5").unlink()
    with pytest.raises(TracelibError, match=r"rank 1: .*no such file"):
        pack_run(str(run), tmp_path / "packed.h5")


def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(TracelibError, match="cannot write"):
        pack_run(str(random_run(tmp_path)), tmp_path / "absent" / "packed.h5")


def test_names_of_places_are_packed(tmp_path):
    """The program is not on this machine, as where a packed run was sent."""
    frames = {0x1000: ("solve", "solver.c", 12), 0x2000: ("main", "solver.c", 40)}
    call_from = [(0, 0, 0), (0, 1, 0x2001), (1, 1, 0x1001)]  # return addresses, behind the calls
    calls = [call("MPI_Barrier", 10, 20, comm=WORLD), call("MPI_Finalize", 30, 40)]
    modules = [(0, 0, 0, b"", b""), (0, 0, 0, b"ab12", b"/nowhere/solver")]
    rank = {"calls": calls, "call_paths": [2, 1], "paths": call_from, "modules": modules}
    run = write_run(tmp_path, [rank, rank])
    names = PlaceFrames.build([(Frame(*frame),) for frame in frames.values()])
    known = NameCache()
    offsets = np.array([offset + 1 for offset in frames], np.uint64)
    known.add(ModuleNames(LoadedModule("/nowhere/solver", "ab12"), offsets, names))
    assert write_names(known, [places_file(tmp_path / "run.ranks")])
    pack_run(str(run), tmp_path / "packed.h5")
    shutil.rmtree(tmp_path / "run.ranks")
    trace = open_trace(str(tmp_path / "packed.h5"))
    assert analyzer.calls_frame(trace, 1)["place"].tolist() == ["solver.c:12 in solve", "solver.c:40 in main"]
    trace.close()


def test_a_run_without_names_of_calls_is_packed(tmp_path):
    """As a damaged file may have none: its calls are of unknown procedures, packed as before."""
    run = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 10, 20, comm=WORLD)]} for _ in range(2)])
    for path in (tmp_path / "run.ranks").iterdir():
        with h5py.File(path, "r+") as file:
            del file["procedures"]
            file.create_dataset("procedures", data=np.zeros(0, "S32"))
    pack_run(str(run), tmp_path / "packed.h5")
    named = [open_trace(str(path)) for path in (run, tmp_path / "packed.h5")]
    before, after = ([trace.procedures, *(block.tolist() for block in trace.calls(1))] for trace in named)
    assert after == before and len(after) == 2
    for trace in named:
        trace.close()


def test_groups_of_many_ranks_are_closed_again(tmp_path):
    """A packed run of more ranks than groups stay open is read as any other."""
    ranks = [
        {"calls": [call("MPI_Barrier", 10 * k, 10 * k + rank, comm=WORLD) for k in range(100)]} for rank in range(8)
    ]
    run = write_run(tmp_path, ranks)
    pack_run(str(run), tmp_path / "packed.h5")
    sizes = ReadSizes(open_groups=3)
    exits = [[rows["exit"].tolist() for rows in of_all_ranks(path, sizes)] for path in (run, tmp_path / "packed.h5")]
    assert exits[0] == exits[1]
    assert 1 <= len(rank_file._files.get(str(tmp_path / "packed.h5")).groups) <= 3


def test_one_packed_under_the_same_name_is_read_anew(tmp_path):
    lengths = []
    for count in (100, 200):
        folder = tmp_path / str(count)
        folder.mkdir()
        run = write_run(folder, [{"calls": [call("MPI_Barrier", 10 * k, 10 * k + 5) for k in range(count)]}])
        pack_run(str(run), tmp_path / "packed.h5")
        lengths.append(find_ranks(str(tmp_path / "packed.h5")).files[0].lengths["calls"])
    assert lengths == [100, 200]


def test_groups_and_tables_keep_no_time(tmp_path):
    """The same run makes the same bytes, whenever it is packed; only types note when they were made."""
    pack_run(str(random_run(tmp_path)), tmp_path / "packed.h5")
    with h5py.File(tmp_path / "packed.h5") as file:
        groups = []
        file.visititems(lambda _, node: groups.append(node) if not isinstance(node, h5py.Datatype) else None)
        times = {h5py.h5o.get_info(node.id).ctime for node in groups}
    assert groups and times == {0}


def test_a_codec_that_there_is_not(tmp_path):
    with pytest.raises(ValueError, match="zstd is none of"):
        pack_run(str(random_run(tmp_path)), tmp_path / "packed.h5", "zstd")
    assert not list(tmp_path.glob("*pack*"))


def of_all_ranks(path, sizes):
    """The calls of each rank, read twice from the first to the last."""
    files = find_ranks(str(path), sizes=sizes).files
    return [file.read("calls", 0, 100) for _ in range(2) for file in files]


def test_a_rank_that_is_no_group(tmp_path):
    run = random_run(tmp_path)
    pack_run(str(run), tmp_path / "packed.h5")
    with h5py.File(tmp_path / "packed.h5", "r+") as file:
        del file["ranks/000001"]
        file["ranks/000001"] = np.zeros(3)
    with pytest.raises(TracelibError, match="ranks/000001 is no group"):
        rank_file.open_rank(tmp_path / "packed.h5", "ranks/000001")
