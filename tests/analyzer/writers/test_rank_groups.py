"""Groups that are put behind what HDF5 wrote: HDF5 reads them as its own, and so does the kernel."""

import h5py
import numpy as np
import pytest
from h5py import h5o
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.recording.rank_file import direct
from analyzer.writers import rank_groups
from analyzer.writers.hdf5_groups import CODECS
from analyzer.writers.hdf5_parts import attribute, text_attribute
from analyzer.writers.rank_groups import new_run
from tracelib import schema


def rows_of(table, count, seed):
    dtype = schema.TABLES[table]
    return np.frombuffer(np.random.default_rng(seed).bytes(count * dtype.itemsize), dtype)


def written(path, ranks, codec="gzip"):
    """A run whose rank k has the tables `ranks[k]` (rows by name)."""
    with new_run(path, len(ranks), schema.TABLES, lambda out: None, codec, 9) as groups:
        for rank, tables in enumerate(ranks):
            at = {name: groups.table(name, len(rows), [rows]) for name, rows in tables.items()}
            groups.add(rank, [attribute("rank", np.uint64(rank)), text_attribute("host", b"node")], at)


@settings(max_examples=40)
@given(data=st.data(), codec=st.sampled_from(CODECS), of_chunk=st.integers(8, 200))
def test_hdf5_reads_the_same_rows(tmp_path_factory, data, codec, of_chunk):
    """Tables without chunks, of one chunk, and trees of many; HDF5's nodes have room for 64."""
    counts = st.dictionaries(st.sampled_from(["calls", "events", "members"]), st.integers(1, 3000), max_size=3)
    ranks = [
        {name: rows_of(name, count, seed) for seed, (name, count) in enumerate(of_rank.items())}
        for of_rank in data.draw(st.lists(counts, min_size=1, max_size=5))
    ]
    path = tmp_path_factory.mktemp("groups") / "run.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_groups, "CHUNK_ROWS", of_chunk)
        written(path, ranks, codec)
    with h5py.File(path) as file:
        assert len(file["ranks"]) == len(ranks)
        for rank, tables in enumerate(ranks):
            group = file[f"ranks/{rank:06d}"]
            assert (group.attrs["rank"], group.attrs["host"], set(group)) == (rank, b"node", set(tables))
            for name, rows in tables.items():
                assert group[name][:].tobytes() == rows.tobytes() and group[name].dtype == rows.dtype


@pytest.mark.parametrize("ranks", [1, 8, 9, 256, 257, 10000])
def test_as_many_groups_as_there_are_ranks(tmp_path, ranks):
    """Entries have nodes of 8, and these nodes of 32: trees of one, two and three levels."""
    path = tmp_path / "run.h5"
    written(path, [{}] * ranks)
    places = direct.groups_of_ranks(str(path))
    with h5py.File(path) as file:
        assert list(file["ranks"]) == [f"{rank:06d}" for rank in range(ranks)]
        some = [0, ranks // 2, ranks - 1]
        assert [places[rank] for rank in some] == [h5o.get_info(file[f"ranks/{rank:06d}"].id).addr for rank in some]
    assert len(places) == ranks


def test_what_ranks_have_alike_is_stored_once(tmp_path):
    """HDF5 counts what leads to a table and to a type: to take one away leaves the others."""
    path = tmp_path / "run.h5"
    clock, calls = rows_of("clock", 2, 1), rows_of("calls", 500, 2)
    written(path, [{"clock": clock, "calls": calls} for _ in range(3)])
    with h5py.File(path, "r+") as file:
        ranks = list(file["ranks"].values())
        assert {rank["clock"].id.get_offset() for rank in ranks} == {ranks[0]["clock"].id.get_offset()}
        assert h5o.get_info(ranks[0]["clock"].id).rc == 3 and h5o.get_info(file["types/calls"].id).rc == 4
        for rank in ranks[:2]:
            del rank["clock"]
    with h5py.File(path) as file:
        assert list(file["ranks/000001"]) == ["calls"]
        assert file["ranks/000002/clock"][:].tobytes() == clock.tobytes()


def test_hdf5_can_add_to_a_group(tmp_path):
    path = tmp_path / "run.h5"
    written(path, [{"clock": rows_of("clock", 2, 1)}])
    with h5py.File(path, "r+") as file:
        file["ranks/000000"]["mine"] = [1, 2, 3]
        file["ranks/000001"] = [4]
    with h5py.File(path) as file:
        assert list(file["ranks/000000"]) == ["clock", "mine"] and file["ranks/000001"][0] == 4


def test_two_at_once_and_after_one_that_failed(tmp_path):
    """Whatever HDF5 keeps of one in memory is its own."""
    rows = {"calls": rows_of("calls", 500, 1)}
    with new_run(tmp_path / "a.h5", 1, schema.TABLES, lambda out: None, "lzf", 9) as groups:
        at = groups.table("calls", 500, [rows["calls"]])
        written(tmp_path / "b.h5", [rows], "lzf")
        with (
            pytest.raises(OSError, match="no room"),
            new_run(tmp_path / "c.h5", 1, schema.TABLES, lambda out: None, "lzf", 9) as failing,
        ):
            failing.table("calls", 500, [rows["calls"]])
            raise OSError("no room")
        groups.add(0, [], {"calls": at})
    for name in ("a", "b"):
        with h5py.File(tmp_path / f"{name}.h5") as file:
            assert file["ranks/000000/calls"][:].tobytes() == rows["calls"].tobytes()


def test_more_than_an_attribute_can_hold(tmp_path):
    with pytest.raises(ValueError, match="of which HDF5 takes 65528"):
        attribute("inside", np.zeros(4000, schema.INSIDE))
