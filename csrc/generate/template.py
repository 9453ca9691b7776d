"""The template of a rank file: valid HDF5 at every instant of its growth, written without an HDF5 library.

h5py makes an empty rank file in the oldest format (no checksums anywhere). Each table is a chunked,
resizable dataset; its chunks are found through a version 1 B-tree (HDF5 File Format Specification,
section III.A.1). The template ships without the trees; the runtime makes them and appends to them:
end-of-file address, data, leaf entry, leaf count, root entry, root count, address of the tree, dataset length, in
that order, each a write inside one page, so that the file is valid between any two of them.
"""

import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5f, h5o, h5p, h5s, h5t

HALF_FANOUT = 192  # K: entries per B-tree node is 2K, so a table holds (2K)^2 chunks
_ENTRY_BYTES = 32  # key (chunk bytes, filter mask, row, element offset) and child address
_KEY_BYTES = 24
NODE_BYTES = 24 + 2 * HALF_FANOUT * _ENTRY_BYTES + _KEY_BYTES
_EOF_AT = 44  # superblock version 1: end-of-file address
_ROOT_HEADER_AT = 68  # superblock version 1: address of the root group's object header
_UNDEFINED = b"\xff" * 8
FILTERS_MESSAGE = 0x000B  # type of an object header's message (IV.A.2.l)
_CONTINUATION = 0x0010
_DEFLATE_LEVEL = 6  # what the file says; any level can be read


@dataclass(frozen=True)
class Table:
    """Where a table's changing numbers stand in the file."""

    name: str
    row_bytes: int
    chunk_rows: int
    length_at: int  # current dimension
    layout_at: int  # address of the chunk B-tree
    chunk_at: int  # rows of a chunk
    filters_at: int  # type of the header message that declares the filters; 0: the table has none


@dataclass(frozen=True)
class Template:
    """First bytes of a rank file, all zero runs included, and what to patch in it."""

    image: bytes
    tables: tuple[Table, ...]
    integer_at: dict[str, int]
    text_at: dict[str, int]


def _magic(n: int) -> int:
    """Return a number that occurs nowhere else in the file."""
    return 0x5EED0A1B2C3D0000 + n


def _create_table(f: h5py.File, name: str, dtype: np.dtype, chunk_rows: int, filters: bool) -> None:
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk((chunk_rows,))
    if filters:
        plist.set_shuffle()
        plist.set_deflate(_DEFLATE_LEVEL)
    plist.set_fill_time(h5d.FILL_TIME_NEVER)
    plist.set_obj_track_times(False)  # a modification time would go stale
    space = h5s.create_simple((1,), (h5s.UNLIMITED,))
    h5d.create(f.id, name.encode(), h5t.py_create(dtype, logical=True), space, plist)


def _open(path: Path) -> h5py.File:
    """Open a new file in the oldest format, which has no checksums, with room for the metadata in one block."""
    fapl = h5p.create(h5p.FILE_ACCESS)
    fapl.set_libver_bounds(h5f.LIBVER_EARLIEST, h5f.LIBVER_V18)
    fapl.set_meta_block_size(1 << 16)
    return h5py.File(h5f.create(str(path).encode(), h5f.ACC_TRUNC, fapl=fapl))


def _find(image: bytes, word: bytes, what: str) -> int:
    at = image.find(word)
    if at < 0 or image.find(word, at + 1) >= 0:
        raise RuntimeError(f"template: {what} does not stand exactly once in the file")
    return at


@dataclass(frozen=True)
class _Places:
    """Addresses of what the library wrote."""

    chunks: dict[str, int]  # first chunk of each table
    headers: dict[str, int]  # object header of each table
    names: tuple[int, int]  # address and bytes of the only chunk of `procedures`


def _make_file(path: Path, schema, procedures: list[str]) -> _Places:
    """Write the file with marked numbers."""
    with _open(path) as f:
        f.attrs["schema_version"] = np.uint64(schema.VERSION)
        for n, name in enumerate(schema.INTEGER_ATTRIBUTES):
            f.attrs[name] = np.uint64(_magic(0x1000 + n))
        for n, (name, room) in enumerate(schema.TEXT_ATTRIBUTES.items()):
            mark = f"<{n:03d}>".encode()
            f.attrs.create(name, np.bytes_(mark.ljust(room, b".")), dtype=f"S{room}")
        names = np.array([p.encode() for p in procedures])
        f.create_dataset(
            "procedures", data=names, chunks=names.shape, track_times=False, shuffle=True,
            compression=_DEFLATE_LEVEL,
        )  # fmt: skip
        f.flush()  # its tree lies ahead of the others'
        for name, dtype in schema.TABLES.items():
            _create_table(f, name, dtype, schema.CHUNK_ROWS[name], name in schema.BUFFERED)
        for name, dtype in schema.TABLES.items():  # behind the headers of all: each allocates its B-tree
            f[name][0] = np.zeros((), dtype)
        f.flush()
        chunks = {name: f[name].id.get_chunk_info(0).byte_offset for name in schema.TABLES}
        names_chunk = f["procedures"].id.get_chunk_info(0)
        headers = {name: h5o.get_info(f[name].id).addr for name in schema.TABLES}
        for n, name in enumerate(schema.TABLES):
            f[name].resize((_magic(n),))  # no chunk is allocated by this
    return _Places(chunks, headers, (names_chunk.byte_offset, names_chunk.size))


def _find_message(image: bytes, header: int, wanted: int) -> int:
    """Find where the type of a message of a version 1 object header stands (IV.A.1.a); 0: it has none."""
    blocks = [(header + 16, struct.unpack_from("<I", image, header + 8)[0])]
    while blocks:
        at, left = blocks.pop(0)
        while left >= 8:
            kind, length = struct.unpack_from("<HH", image, at)
            if kind == wanted:
                return at
            if kind == _CONTINUATION:
                blocks.append(struct.unpack_from("<QQ", image, at + 8))
            at, left = at + 8 + length, left - 8 - length
    return 0


def _hide_filters(image: bytearray, header: int) -> int:
    """Make the message that declares the filters one to be skipped; a compressed file gets its type back."""
    at = _find_message(image, header, FILTERS_MESSAGE)
    if at:
        struct.pack_into("<H", image, at, 0)
    return at


def _aligned(image: bytearray) -> int:
    image += bytes(-len(image) % 8)
    return len(image)


def _widen_superblock(image: bytearray) -> None:
    """Change superblock version 0 to 1, which alone can hold how large the B-tree nodes are.

    It is 4 bytes longer, and the root group's object header begins right behind it: that header moves
    to the end of the metadata (its continuation, if any, is found by absolute address).
    """
    if image[8] != 0 or struct.unpack_from("<Q", image, 64)[0] != 96:
        raise RuntimeError("template: not a version 0 superblock followed by the root group")
    header_bytes = 16 + struct.unpack_from("<I", image, 96 + 8)[0]
    moved = _aligned(image)
    image += image[96 : 96 + header_bytes]
    addresses = bytes(image[24:96])
    image[8] = 1
    image[24:100] = struct.pack("<HH", HALF_FANOUT, 0) + addresses
    image[100 : 96 + header_bytes] = bytes(header_bytes - 4)
    struct.pack_into("<Q", image, _ROOT_HEADER_AT, moved)


def _take_out_tree(image: bytearray, leaf: int, name: str) -> int:
    """Forget the B-tree that the library made for a table; return where its address stands."""
    layout_at = _find(image, struct.pack("<Q", leaf), f"layout of {name}")
    image[layout_at : layout_at + 8] = _UNDEFINED
    return layout_at


def _find_chunk_rows(image: bytes, layout_at: int, rows: int) -> int:
    """Find where the rows of a chunk stand: behind the tree's address, in version 3 of the layout message
    (IV.A.2.i)."""
    at = layout_at + 8
    if struct.unpack_from("<I", image, at)[0] != rows:
        raise RuntimeError("template: the rows of a chunk are not where they should be")
    return at


def _cut(image: bytearray, end: int, places: _Places) -> None:
    """Remove all trees and chunks, which lie behind the other metadata; the names come back at the end."""
    if max(places.headers.values()) > end:
        raise RuntimeError("template: metadata behind the data")
    at, size = places.names
    names = image[at : at + size]
    del image[end:]
    entry = struct.pack("<IIQQQ", size, 0, 0, 0, at)
    struct.pack_into("<Q", image, _find(image, entry, "chunk of procedures") + _KEY_BYTES, _aligned(image))
    image += names


def make(schema, procedures: list[str]) -> Template:
    """Build the template for `tracelib.schema` and the names of the recorded procedures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "template.h5"
        places = _make_file(path, schema, procedures)
        image = bytearray(path.read_bytes())
    leaves = {n: _find(image, struct.pack("<Q", a), f"first chunk of {n}") - 48 for n, a in places.chunks.items()}
    tables = []
    for n, (name, dtype) in enumerate(schema.TABLES.items()):
        length_at = _find(image, struct.pack("<Q", _magic(n)), f"length of {name}")
        image[length_at : length_at + 8] = bytes(8)
        layout_at = _take_out_tree(image, leaves[name], name)
        filters_at = _hide_filters(image, places.headers[name])
        chunk_at = _find_chunk_rows(image, layout_at, schema.CHUNK_ROWS[name])
        tables.append(Table(name, dtype.itemsize, schema.CHUNK_ROWS[name], length_at, layout_at, chunk_at, filters_at))
    _cut(image, min(*leaves.values(), *places.chunks.values()), places)
    _widen_superblock(image)
    struct.pack_into("<Q", image, _EOF_AT, len(image))
    integer_at, text_at = {}, {}
    for n, name in enumerate(schema.INTEGER_ATTRIBUTES):
        integer_at[name] = _find(image, struct.pack("<Q", _magic(0x1000 + n)), name)
        image[integer_at[name] : integer_at[name] + 8] = bytes(8)
    for n, (name, room) in enumerate(schema.TEXT_ATTRIBUTES.items()):
        text_at[name] = _find(image, f"<{n:03d}>.".encode(), name)
        image[text_at[name] : text_at[name] + room] = bytes(room)
    return Template(bytes(image), tuple(tables), integer_at, text_at)


def c_header(template: Template, schema) -> str:
    """Write the template as C: its nonzero segments and the positions to patch."""
    segments, data = [], bytearray()
    for start, stop in _nonzero_runs(template.image):
        segments.append(f"    {{{start}, {len(data)}, {stop - start}}},")
        data += template.image[start:stop]
    rows = ",\n    ".join(", ".join(str(b) for b in data[i : i + 24]) for i in range(0, len(data), 24))
    tables = "\n".join(
        f'    [TABLE_{t.name.upper()}] = {{"{t.name}", {t.row_bytes}, {t.chunk_rows}, {t.length_at}, {t.layout_at}, '
        f"{t.chunk_at}, {t.filters_at}}},"
        for t in template.tables
    )
    names = "".join(f"    TABLE_{t.name.upper()},\n" for t in template.tables)
    attributes = "".join(f"    AT_{n.upper()} = {a},\n" for n, a in {**template.integer_at, **template.text_at}.items())
    room = "".join(f"    ROOM_{n.upper()} = {r},\n" for n, r in schema.TEXT_ATTRIBUTES.items())
    return f"""enum {{
    TEMPLATE_BYTES = {len(template.image)},
    AT_END_OF_FILE = {_EOF_AT},
    NODE_ENTRIES = {2 * HALF_FANOUT},
    NODE_BYTES = {NODE_BYTES},
    BUFFERED_TABLES = {len(schema.BUFFERED)},
    COMPRESSED_CHUNK_ROWS = {schema.COMPRESSED_CHUNK_ROWS},
    FILTERS_MESSAGE = {FILTERS_MESSAGE},
    ROOM_MAX = {max(schema.TEXT_ATTRIBUTES.values())},
{attributes}{room}}};
enum table {{
{names}    TABLES
}};
struct table_layout {{
    const char *name;
    uint32_t row_bytes, chunk_rows;
    uint64_t length_at, layout_at, chunk_at, filters_at;
}};
static const struct table_layout table_layout[TABLES] __attribute__((unused)) = {{
{tables}
}};
#ifdef STORE_TEMPLATE
struct segment {{
    uint32_t at, from, bytes;
}};
static const struct segment template_segments[] = {{
{chr(10).join(segments)}
}};
static const unsigned char template_bytes[] = {{
    {rows}
}};
#endif
"""


def _nonzero_runs(image: bytes, gap: int = 64):
    """Return stretches of the image that are not all zero, joined if less than `gap` zeros lie between."""
    nonzero = np.flatnonzero(np.frombuffer(image, "u1"))
    breaks = np.flatnonzero(np.diff(nonzero) > gap)
    starts = nonzero[np.r_[0, breaks + 1]]
    stops = nonzero[np.r_[breaks, len(nonzero) - 1]] + 1
    return zip(starts.tolist(), stops.tolist(), strict=True)
