"""Rank files read without HDF5 say what HDF5 says of them, whoever wrote them and whatever became of them."""

import subprocess
import tarfile
from dataclasses import fields

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from own_process import own_process
from paths import DATA, ROOT
from synthetic import WORLD, call, event, request, write_run

from analyzer.errors import TracelibError
from analyzer.recording.rank_file import direct
from analyzer.recording.rank_file import file as rankfile
from analyzer.writers.packed import pack_run
from analyzer.writers.rank_groups import CHUNK_ROWS
from csrc.generate import template
from tracelib import schema
from tracelib.schema import ProcessState, RequestKind

KERNELS = ROOT / "csrc" / "kernels"
NAMES = [f"MPI_Procedure_{k}" for k in range(40)]


def of_runtime(path, rows, compressed=False):
    """A file that begins as the runtime's do, with some rows in each table."""
    made = template.make(schema, NAMES)
    image = bytearray(made.image)
    for table in made.tables if compressed else ():
        if table.filters_at:
            image[table.filters_at : table.filters_at + 2] = template.FILTERS_MESSAGE.to_bytes(2, "little")
    path.write_bytes(image)
    with h5py.File(path, "r+") as file:
        for name, dtype in schema.TABLES.items():
            file[name].resize((rows,))
            file[name][:] = np.frombuffer(np.random.default_rng(1).bytes(rows * dtype.itemsize), dtype)
        file["blocks"]["thread"] = np.zeros(rows, "<u4")
        blocks = file["blocks"][:]
        blocks["thread"] = 0
        file["blocks"][:] = blocks
        communicators = file["communicators"][:]
        communicators["size"][1:2] = 3
        file["communicators"][:] = communicators
        file.attrs.modify("size", np.uint64(3))
        file.attrs.modify("state", np.uint64(ProcessState.FINALIZED))
        file.attrs.modify("command", np.bytes_(b"./app with arguments"))


def of_h5py(path, **options):
    """A file that h5py wrote, of a rank that has rows in most tables."""
    calls = [call("MPI_Send", 10 * k, 10 * k + 5, peer=0, sent=8) for k in range(2100)]
    requests = [request(RequestKind.SEND_DONE, 10 * k, 10 * k + 5, peer=0) for k in range(50)]
    events = [event(10 * k, 1000, k, thread=k % 2) for k in range(600)]
    run = write_run(path.parent, [{"calls": calls, "requests": requests, "events": events, "cpus": "0-3"}])
    written = run.with_suffix(".ranks") / "000000.h5"
    with h5py.File(written) as file, h5py.File(path, "w", **options) as copy:
        for name in file:
            file.copy(name, copy)
        for name, value in file.attrs.items():
            copy.attrs[name] = value


def with_attribute(path, **attributes):
    of_h5py(path, libver="earliest")
    with h5py.File(path, "r+") as file:
        for name, value in attributes.items():
            file.attrs[name] = value


def with_other_table(path):
    of_h5py(path, libver="earliest")
    with h5py.File(path, "r+") as file:
        del file["calls"]
        file["calls"] = np.zeros(3, [("enter", "<u8")])


def without_table(path):
    of_h5py(path, libver="earliest")
    with h5py.File(path, "r+") as file:
        del file["polls"]


def with_missing_chunk(path):
    """Rows that were never written: HDF5 says they are zero."""
    of_h5py(path, libver="earliest")
    with h5py.File(path, "r+") as file:
        file["polls"].resize((5000,))
        file["skipped"].resize((1000,))


INSIDE = np.array([(1, 2, 3, 4), (4, 5, 6, 7)], schema.INSIDE)

READ_DIRECTLY = {
    "runtime": lambda path: of_runtime(path, 1000),
    "runtime, compressed": lambda path: of_runtime(path, 9000, compressed=True),
    "runtime, few rows": lambda path: of_runtime(path, 1),
    "h5py": lambda path: of_h5py(path, libver="earliest"),
    "recovered": lambda path: with_attribute(path, inside=INSIDE),
    "other columns": with_other_table,
    "no table": without_table,
}
LEFT_TO_HDF5 = {
    "latest": lambda path: of_h5py(path, libver="latest"),
    "user block": lambda path: of_h5py(path, libver="earliest", userblock_size=512),
    "attribute of any length": lambda path: with_attribute(path, note="a text"),
    "missing chunks": with_missing_chunk,
    "no HDF5": lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500)),
    "empty": lambda path: path.write_bytes(b""),
    "missing": lambda path: None,
}


def answer(path, group="/"):
    """Return the file that opening returns, or the error."""
    rankfile.close_file(str(path))
    try:
        return rankfile.open_rank(path, group)
    except TracelibError as error:
        return str(error)


def answer_of_hdf5(path, group="/"):
    """HDF5 also reads the rows."""
    chunks = rankfile._chunks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rankfile, "read_direct", lambda path, group, by_hdf5: None)
        patch.setattr(rankfile, "_chunks", lambda tables: chunks(tables) and {})
        return answer(path, group)


def everything(found):
    """All that a rank file says, with the rows of all tables, and their ends once more."""
    said = {field.name: getattr(found, field.name) for field in fields(found) if field.name != "chunks"}
    for name in schema.BUFFERED:
        said[name] = outcome_of_rows(found, name)
    return {name: (v.dtype, v.tobytes()) if isinstance(v, np.ndarray) else v for name, v in said.items()}


def outcome_of_rows(found, name):
    length = min(found.lengths[name], 1 << 20)  # a damaged one may be of any length
    ends = [found.lengths[name] - 1, 0] if length else []
    try:
        return np.concatenate([found.read(name, 0, length), *(found.read(name, at, at + 1) for at in ends)])
    except TracelibError as error:
        return str(error).partition(" (")[0]  # HDF5's reasons are its own


def assert_same(path, group="/"):
    """True if the file could be read at all."""
    mine, theirs = answer(path, group), answer_of_hdf5(path, group)
    if isinstance(theirs, str):
        return mine == theirs
    assert everything(mine) == everything(theirs)
    return True


def assert_nothing_else(path, group):
    """Assert that rows read without HDF5 from a damaged file equal HDF5's, if it reads them.

    For a chunk that is too short HDF5 gives the rows that are there, or old contents of memory.
    """
    mine, theirs = answer(path, group), answer_of_hdf5(path, group)
    if isinstance(mine, str) or isinstance(theirs, str):
        assert isinstance(theirs, str)  # what HDF5 reads is not refused
        return
    refused = {
        name for one in (mine, theirs) for name in schema.BUFFERED if isinstance(outcome_of_rows(one, name), str)
    }
    left = refused | {name for name in schema.BUFFERED if name not in mine.chunks}
    found = [{name: v for name, v in everything(one).items() if name not in left} for one in (mine, theirs)]
    assert found[0] == found[1]


def is_read_directly(path, group="/"):
    rankfile.close_file(str(path))
    at = rankfile._place_of(str(path), group)
    table = lambda name: rankfile._files.group(str(path), group).table(name)  # noqa: E731
    return at is not None and direct.read_direct(str(path), at, table) is not None


@pytest.fixture(scope="module")
def elsewhere():
    """elsewhere(function, path, ...): what it gives in another process: libhdf5 may crash where a file is damaged."""
    with own_process() as process:
        yield lambda function, *arguments: process.submit(function, *arguments).result()


@pytest.mark.parametrize("kind", [*READ_DIRECTLY, *LEFT_TO_HDF5])
def test_every_kind_of_file(tmp_path, kind, elsewhere):
    path = tmp_path / "rank.h5"
    (READ_DIRECTLY | LEFT_TO_HDF5)[kind](path)
    assert elsewhere(assert_same, path)
    assert is_read_directly(path) == (kind in READ_DIRECTLY)


def test_files_that_the_runtime_wrote(tmp_path):
    """Files of version 1; one process was killed in a flush."""
    with tarfile.open(DATA / "version_1.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    paths = sorted(tmp_path.glob("*.ranks/*.h5"))
    assert len(paths) == 4
    for path in paths:
        assert assert_same(path) and is_read_directly(path)


def test_many_chunks_at_several_levels(tmp_path):
    """A tree of h5py's has 64 entries a node: 300 chunks take two levels."""
    path = tmp_path / "rank.h5"
    of_h5py(path, libver="earliest")
    with h5py.File(path, "r+") as file:
        rows = np.arange(300 * 512 - 7, dtype=np.uint64)
        file["polls"].resize((len(rows),))
        file["polls"]["enter"] = rows
        polls = file["polls"][:]
        polls["enter"] = rows
        file["polls"][:] = polls
    assert assert_same(path) and is_read_directly(path)
    assert (rankfile.open_rank(path).read("polls", 0, 1 << 20)["enter"] == rows).all()


def packed(path, codec="gzip"):
    """A packed run of three ranks: one has tables of several chunks, one of one, and small ones, one no calls."""
    ranks = [
        {
            "calls": [call("MPI_Send", 10 * k, 10 * k + 5, peer=1, sent=8 * (k % 3), comm=WORLD) for k in range(count)],
            "requests": [request(RequestKind.SEND_DONE, 10 * k, 10 * k + 5, peer=0) for k in range(count % 50)],
            "events": [event(10 * k, 1000, k) for k in range(count // 3)],
            "labels": [(0, 1, k + 1, f"region {rank} {k}") for k in range(count)] if rank == 1 else [],
        }
        for rank, count in enumerate((CHUNK_ROWS + 90, 70, 0))
    ]
    run = write_run(path.parent, ranks)
    pack_run(str(run), path, codec)


@pytest.mark.parametrize("codec", ["gzip", "lzf"])
def test_ranks_of_a_packed_run(tmp_path, elsewhere, codec):
    path = tmp_path / "packed.h5"
    packed(path, codec)
    for rank in range(3):
        group = f"ranks/{rank:06d}"
        assert elsewhere(assert_same, path, group) and is_read_directly(path, group) == (codec == "gzip" or rank != 1)


def test_a_packed_run_that_hdf5_wrote_anew(tmp_path, elsewhere):
    """As earlier versions of this program wrote it, with newer headers."""
    packed(tmp_path / "packed.h5")
    with h5py.File(tmp_path / "packed.h5") as file, h5py.File(tmp_path / "anew.h5", "w", libver="latest") as copy:
        for name in file:
            file.copy(name, copy)
    assert elsewhere(assert_same, tmp_path / "anew.h5", "ranks/000000")
    assert not is_read_directly(tmp_path / "anew.h5", "ranks/000000")


@pytest.mark.parametrize("room", [0, 30])
def test_small_tables_that_are_compressed(tmp_path, elsewhere, room):
    """As tools that compress a whole file do, in chunks that have room for more rows; only the runtime's own tables lie
    as they are."""
    path = tmp_path / "rank.h5"
    of_h5py(path, libver="earliest")
    with h5py.File(path, "r+") as file:
        for name in ("communicators", "clock"):
            rows = file[name][:]
            del file[name]
            more = {"chunks": (len(rows) + room,), "maxshape": (None,), "compression": "gzip"}
            file.create_dataset(name, data=rows, shuffle=name == "clock", **more)
    assert elsewhere(assert_same, path)
    with h5py.File(path) as file:
        clock = file["clock"][:]
    assert rankfile.open_rank(path).clock.tobytes() == clock.tobytes()


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """Files to be damaged, and where they have something, and the group that is read."""
    folder = tmp_path_factory.mktemp("bases")
    made = []
    for kind in ("runtime", "compressed", "h5py"):
        path = folder / f"{kind}.h5"
        of_h5py(path, libver="earliest") if kind == "h5py" else of_runtime(path, 70, compressed=kind == "compressed")
        data = path.read_bytes()
        head = np.frombuffer(data, np.uint8)[: len(data) if kind == "compressed" else 32768]
        made.append((data, np.flatnonzero(head).tolist(), "/"))
    path = tmp_path_factory.mktemp("packed") / "packed.h5"
    packed(path)
    data = path.read_bytes()
    made += [(data, np.flatnonzero(np.frombuffer(data, np.uint8)).tolist(), f"ranks/{rank:06d}") for rank in (0, 1)]
    return made


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_file_says_the_same_or_is_left_to_hdf5(bases, elsewhere, tmp_path_factory, data):
    """Where HDF5 gives an answer. Where it refuses, so do we, but for damage that nothing depends on."""
    whole, places, group = data.draw(st.sampled_from(bases))
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.sampled_from(places)) + data.draw(st.integers(0, 2))
        damaged[at] = data.draw(st.one_of(st.sampled_from([0, 1, 255]), st.integers(0, 255)))
    cut = data.draw(st.one_of(st.none(), st.integers(0, len(whole))))
    path = tmp_path_factory.getbasetemp() / "damaged.h5"
    path.write_bytes(damaged[:cut])
    elsewhere(assert_nothing_else, path, group)


DRIVER = """
#include "hdf5/rank_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char whole[1 << 22], damaged[1 << 22];
static const char *const names[] = {%s};

/* Exact room, so that one byte beyond it is found. */
static void read_with_room(const char *path, int64_t room)
{
    struct found_table tables[sizeof names / sizeof *names];
    struct rank_file found = {{malloc(room), room, 0}, {malloc(room), room, 0}, {malloc(room), room, 0}, tables, 0};
    int64_t groups[2] = {0, 0};
    rank_groups(path, groups, 2);
    for (int i = 0; i < 2; i++) rank_file_read(path, groups[i], names, sizeof names / sizeof *names, %d, &found);
    free(found.shape.bytes);
    free(found.values.bytes);
    free(found.data.bytes);
}

int main(int n, char **arguments)
{
    FILE *file = fopen(arguments[1], "rb");
    size_t bytes = fread(whole, 1, sizeof whole, file);
    fclose(file);
    for (int k = 0; k < atoi(arguments[3]); k++) {
        memcpy(damaged, whole, bytes);
        srand((unsigned)k);
        for (int i = rand() %% 4; i--;)
damaged[rand() %% (k %% 2 ? 20000 : bytes)] = rand() %% 2 ? rand() : 255 * (rand() %% 2);
        file = fopen(arguments[2], "wb");
        fwrite(damaged, 1, k %% 9 ? bytes : rand() %% bytes, file);
        fclose(file);
        read_with_room(arguments[2], k %% 5 ? 1 << 20 : rand() %% 5000);
    }
    return n != 4;
}
"""


def test_no_damage_makes_it_touch_what_is_not_its_own(bases, tmp_path):
    (tmp_path / "driver.c").write_text(DRIVER % (", ".join(f'"{n}"' for n in direct._TABLES), len(direct._WHOLE)))
    flags = ["-std=gnu11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{KERNELS}"]
    own = [KERNELS / "hdf5" / name for name in ("rank_file.c", "rank_groups.c", "prefetch.c")]
    sources = [tmp_path / "driver.c", *KERNELS.glob("hdf5/h5_*.c"), *own]
    subprocess.run(["gcc", *flags, "-o", tmp_path / "driver", *sources], check=True)
    for whole, *_ in bases:
        (tmp_path / "whole.h5").write_bytes(whole)
        command = [tmp_path / "driver", tmp_path / "whole.h5", tmp_path / "damaged.h5", "300"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
