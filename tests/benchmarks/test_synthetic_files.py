"""The files of synthetic runs equal the runtime's: HDF5 reads them whole, and so does our own reader."""

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_runs import read_ranks

from analyzer.cli import main
from analyzer.recording.rank_file import file as rank_file
from benchmarks.synthetic.image import Image
from benchmarks.synthetic.links import write_links
from benchmarks.synthetic.run import CALLS_A_BLOCK, write_run
from benchmarks.synthetic.world import PROCEDURES
from tracelib import schema

IMAGE = Image(PROCEDURES)


def random_rows(dtype, n, seed):
    data = np.random.default_rng(seed).integers(1, 255, n * dtype.itemsize, np.uint8)
    return data.view(dtype)


def lengths():
    """Draw lengths of tables, often at the end of a chunk."""
    return st.integers(0, 300) | st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from([-1, 0, 1]))


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from(sorted(schema.TABLES)), lengths(), max_size=6), st.integers(0, 99))
def test_tables_come_back(tmp_path_factory, wanted, seed):
    path = tmp_path_factory.mktemp("image") / "000007.h5"
    tables = {}
    for name, length in wanted.items():
        n = length if isinstance(length, int) else length[0] * schema.CHUNK_ROWS[name] + length[1]
        tables[name] = random_rows(schema.TABLES[name], n, seed)
    IMAGE.write(path, tables, {"rank": 7, "size": 9, "host": "here"})
    with h5py.File(path) as file:
        for name, dtype in schema.TABLES.items():
            rows = tables.get(name, np.zeros(0, dtype))
            assert file[name].dtype == dtype
            assert file[name][:].tobytes() == rows.tobytes()
        assert file["procedures"].asstr()[:].tolist() == list(PROCEDURES)
        assert (file.attrs["rank"], file.attrs["size"], file.attrs["pid"]) == (7, 9, 0)
        assert file.attrs["host"] == b"here"
        assert file.attrs["schema_version"] == schema.VERSION


@pytest.mark.parametrize("chunks", [384, 385, 1000])
def test_a_table_of_many_chunks(tmp_path, chunks):
    """A node of the tree has 384 entries."""
    rows = random_rows(schema.LABEL, chunks * schema.CHUNK_ROWS["labels"] - 3, chunks)
    IMAGE.write(tmp_path / "000000.h5", {"labels": rows}, {})
    with h5py.File(tmp_path / "000000.h5") as file:
        assert file["labels"][:].tobytes() == rows.tobytes()


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ValueError, match="host: at most 64 bytes"):
        IMAGE.write(tmp_path / "000000.h5", {}, {"host": 65 * "x"})


def test_our_reader_needs_no_hdf5(tmp_path, monkeypatch):
    written = write_run(tmp_path, "halo", 4, 60)
    monkeypatch.setattr(rank_file, "_of_hdf5", lambda path, _group: pytest.fail(f"{path} is none of the runtime's"))
    paths = sorted((tmp_path / "run.ranks").iterdir())
    assert sum(rank_file.open_rank(path).lengths["calls"] for path in paths) == written.calls


@pytest.mark.parametrize(("ranks", "named"), [(64, 64), (65536, 65000)])
def test_links(tmp_path, ranks, named):
    write_links(tmp_path / "some.h5", ranks, 12345)
    with h5py.File(tmp_path / "some.h5") as file:
        assert file.attrs["size"] == ranks
        assert file.attrs["created_realtime_ns"] == 12345
        assert len(file["ranks"]) == named
        link = file["ranks"].get(f"{named - 1:06d}", getlink=True)
        assert (link.filename, link.path) == (f"some.ranks/{named - 1:06d}.h5", "/")


def test_long_runs_have_several_blocks(tmp_path, capsys):
    written = write_run(tmp_path, "ring", 4, 20_000)
    for rank in read_ranks(written.path):
        blocks = rank.tables["blocks"]
        assert len(blocks) == -(-len(rank.calls) // CALLS_A_BLOCK) == 4
        for place, name in enumerate(schema.BUFFERED):
            first, count = blocks["first"][:, place], blocks["count"][:, place]
            assert (first == count.cumsum() - count).all()
            assert count.sum() == len(rank.tables[name])
        for block in blocks:
            begin, end = block["first"].astype(int), block["first"].astype(int) + block["count"]
            calls, requests = (slice(begin[i], end[i]) for i in (0, 1))
            assert set(rank.requests["completed"][requests]) <= set(rank.calls["exit"][calls])
    assert main(["check", str(written.path)]) == 0
    assert "good" in capsys.readouterr().out


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.h5")}


@pytest.mark.parametrize("pattern", ["halo", "irregular", "workers"])
def test_the_seed_determines_the_run(tmp_path, pattern):
    runs = [
        write_run(tmp_path / name, pattern, 16, 50, seed).path.parent for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert contents(runs[0]) == contents(runs[1])
    assert contents(runs[0]) != contents(runs[2])


@pytest.mark.parametrize("ranks", [3, 65537])
def test_sizes_that_are_refused(tmp_path, ranks):
    with pytest.raises(ValueError, match="4 to 65536 ranks"):
        write_run(tmp_path, "halo", ranks, 10)
