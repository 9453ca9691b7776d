"""Parts of an HDF5 file of the oldest format, as bytes: object headers, their messages, and trees.

HDF5 takes half a millisecond for the attributes of a group, and as much for its tables, and a packed or cut run has a
group for each rank. Writing these bytes directly takes a tenth of it. The analyzer's kernel reads them as it reads a
rank file (csrc/kernels/hdf5). Section numbers refer to the "HDF5 File Format Specification, Version 2.0", and to 3.0
for layouts.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

import numpy as np
from h5py import h5p, h5t

ALIGNED = 8
"""Alignment in bytes of everything in an object header."""
UNDEFINED = 2**64 - 1

_CONSTANT, _SHARED = 1, 2
_MOST_BODY = 2**16 - ALIGNED
_ENCODED = 2
"""Number of bytes that HDF5 puts before a datatype message when it encodes a type by itself."""


class HeaderMessage(IntEnum):
    """Types of messages in an object header (IV.A.2)."""

    DATASPACE = 0x01
    LINK_INFO = 0x02
    DATATYPE = 0x03
    FILL_VALUE = 0x05
    LINK = 0x06
    LAYOUT = 0x08
    GROUP_INFO = 0x0A
    FILTERS = 0x0B
    ATTRIBUTE = 0x0C


def padded(part: bytes) -> bytes:
    """Pad bytes with zeros to a multiple of ALIGNED."""
    return part + bytes(-len(part) % ALIGNED)


def header(messages: Sequence[bytes]) -> bytes:
    """Return an object header of version 1 (IV.A.1.a) with these messages, to which one link leads."""
    body = b"".join(messages)
    return struct.pack("<BxHII4x", 1, len(messages), 1, len(body)) + body


REFERENCES = struct.Struct("<I")
REFERENCES_AT = 4
"""Offset of the number of links in an object header, in bytes."""


def message(kind: HeaderMessage, body: bytes, flags: int = 0) -> bytes:
    """Return a message of an object header.

    Raises:
        ValueError: The body is longer than HDF5 allows (_MOST_BODY bytes).
    """
    whole = padded(body)
    if len(whole) > _MOST_BODY:
        raise ValueError(f"a message of {len(whole)} bytes, of which HDF5 takes {_MOST_BODY}")
    return struct.pack("<HHB3x", kind, len(whole), flags) + whole


IS_GROUP = (
    message(HeaderMessage.LINK_INFO, struct.pack("<BBQQ", 0, 0, UNDEFINED, UNDEFINED)),
    message(HeaderMessage.GROUP_INFO, struct.pack("<BB", 0, 0), _CONSTANT),
)
"""Messages of a group that has all of its links in its header (IV.A.2.c, IV.A.2.k). HDF5 can add links to it."""


@lru_cache
def _dataspace(shape: tuple[int, ...]) -> bytes:
    """Return the body of a dataspace message (IV.A.2.b, version 1)."""
    return struct.pack(f"<BBB5x{len(shape)}Q", 1, len(shape), 0, *shape)


@lru_cache
def _datatype(dtype: np.dtype) -> bytes:
    """Return the body of a datatype message (IV.A.2.d), as HDF5 encodes it."""
    return h5t.py_create(dtype, logical=True).encode()[_ENCODED:]


@lru_cache(4096)
def _attribute_head(name: str, dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    """Return the body of an attribute message without its value (IV.A.2.m, version 1)."""
    name_bytes = name.encode() + b"\0"
    kind, space = _datatype(dtype), _dataspace(shape)
    sizes = struct.pack("<BxHHH", 1, len(name_bytes), len(kind), len(space))
    return sizes + padded(name_bytes) + padded(kind) + padded(space)


def attribute(name: str, value: np.generic | np.ndarray) -> bytes:
    """Return the message of an attribute that is a number, or an array of numbers or records."""
    return message(HeaderMessage.ATTRIBUTE, _attribute_head(name, value.dtype, value.shape) + value.tobytes())


def text_attribute(name: str, text: bytes) -> bytes:
    """Return the message of an attribute that is text of a fixed length.

    The length is rounded up to a multiple of ALIGNED, so that the headers of most ranks have the same length.
    """
    room = padded(text or b"\0")
    return message(HeaderMessage.ATTRIBUTE, _attribute_head(name, np.dtype(f"S{len(room)}"), ()) + room)


@lru_cache(4096)
def _link_head(name: str) -> bytes:
    return struct.pack("<BBB", 1, 0, len(name)) + name.encode()


def link(name: str, address: int) -> bytes:
    """Return the message of a hard link to the object header at an address (IV.A.2.g).

    A name is ASCII and has up to 255 letters.
    """
    return message(HeaderMessage.LINK, _link_head(name) + struct.pack("<Q", address))


@lru_cache
def own_type(dtype: np.dtype) -> bytes:
    """Return the datatype message of a type that is stored where it is used."""
    return message(HeaderMessage.DATATYPE, _datatype(dtype), _CONSTANT)


@lru_cache
def type_at(address: int) -> bytes:
    """Return the message that refers to a type with an object header of its own at an address.

    Source: IV.A.2, shared message, version 2.
    """
    return message(HeaderMessage.DATATYPE, struct.pack("<BBQ", 2, 2, address), _CONSTANT | _SHARED)


_LATE, _AS_NEEDED = 2, 3
_IF_SET = 2


@lru_cache
def _fill_value(when: int) -> bytes:
    """Return the message of the fill value 0 (IV.A.2.f, version 2). `when`: time at which space is allocated."""
    return message(HeaderMessage.FILL_VALUE, struct.pack("<BBBBI", 2, when, _IF_SET, 1, 0), _CONSTANT)


def table_as_it_is(kind: bytes, rows: int, row_bytes: int, at: int) -> bytes:
    """Return the object header of an uncompressed table whose rows are stored at address `at` (IV.A.2.i, version 3).

    Args:
        kind: Message of the row's type.
        rows: Number of rows.
        row_bytes: Bytes of a row.
        at: Address of the first row.
    """
    layout = struct.pack("<BBQQ", 3, 1, at, rows * row_bytes)
    space = message(HeaderMessage.DATASPACE, _dataspace((rows,)))
    return header([space, kind, _fill_value(_LATE), message(HeaderMessage.LAYOUT, layout)])


def table_in_chunk(kind: bytes, rows: int, row_bytes: int, filters: bytes, chunk: tuple[int, int, int]) -> bytes:
    """Return the object header of a table that is stored as one filtered chunk.

    Args:
        kind: Message of the row's type.
        rows: Number of rows.
        row_bytes: Bytes of a row.
        filters: Message of the filters.
        chunk: Address and bytes of the chunk, and a bit for each filter that was left out.

    Source: version 3.0 of the specification, IV.A.2.i, version 4, "single chunk".
    """
    at, size, mask = chunk
    width = (max(rows, row_bytes).bit_length() + 7) // 8  # width of the chunk's dimensions only
    dimensions = b"".join(number.to_bytes(width, "little") for number in (rows, row_bytes))
    layout = struct.pack("<BBBBB", 4, 2, 2, 2, width) + dimensions + struct.pack("<BQIQ", 1, size, mask, at)
    return _filtered(kind, rows, filters, layout)


def table_in_chunks(kind: bytes, rows: int, row_bytes: int, of_chunk: int, filters: bytes, tree: int) -> bytes:
    """Return the object header of a table in filtered chunks, which a tree lists (IV.A.2.i, version 3).

    Args:
        kind: Message of the row's type.
        rows: Number of rows.
        row_bytes: Bytes of a row.
        of_chunk: Number of rows of a chunk.
        filters: Message of the filters.
        tree: Address of the root of the tree.
    """
    return _filtered(kind, rows, filters, struct.pack("<BBBQII", 3, 2, 2, tree, of_chunk, row_bytes))


def _filtered(kind: bytes, rows: int, filters: bytes, layout: bytes) -> bytes:
    space = message(HeaderMessage.DATASPACE, _dataspace((rows,)))
    return header([space, kind, _fill_value(_AS_NEEDED), filters, message(HeaderMessage.LAYOUT, layout)])


def filters_of(properties: h5p.PropDCID) -> bytes:
    """Return the message of the filters that properties of a dataset have (IV.A.2.l, version 1)."""
    found = [properties.get_filter(number) for number in range(properties.get_nfilters())]
    body = struct.pack("<BB6x", 1, len(found))
    for code, flags, values, name in found:
        text = padded(name + b"\0")
        body += struct.pack("<HHHH", code, len(text), flags, len(values)) + text
        body += padded(struct.pack(f"<{len(values)}I", *values))
    return message(HeaderMessage.FILTERS, body, _CONSTANT)


_GROUP_HALF, _CHUNKS_HALF, _SYMBOLS_HALF = 16, 32, 4
"""Half of the largest number of entries of each kind of tree node, by the defaults of superblock version 0."""


def chunk_tree(at: int, of_chunk: int, chunks: Sequence[tuple[int, int, int]]) -> tuple[bytes, int]:
    """Return the tree of the chunks of a table (III.A.1, type 1).

    Args:
        at: Address at which the tree will be stored.
        of_chunk: Number of rows of a chunk.
        chunks: Address and bytes of each chunk, and a bit for each filter that was left out.

    Returns:
        The bytes of the tree, and the address of its root.
    """
    keys = [struct.pack("<IIQQ", size, mask, k * of_chunk, 0) for k, (_, size, mask) in enumerate(chunks)]
    keys.append(struct.pack("<IIQQ", 0, 0, len(chunks) * of_chunk, 0))
    nodes, root = _tree(at, 1, keys, [where for where, _, _ in chunks], 2 * _CHUNKS_HALF)
    return b"".join(nodes), root


def group_of(members: Sequence[tuple[str, int]], at: int) -> tuple[bytes, bytes, bytes]:
    """Return a group with many members, to be stored at address `at` (III.A.1, III.B, III.D).

    Args:
        members: Name and address of the object header of each member, sorted by name.
        at: Address at which the first bytes will be stored.

    Returns:
        The bytes for address `at` (names, entries and lower nodes of the tree), the header of the heap of names, and
        the root of the tree.
    """
    names = [padded(name.encode() + b"\0") for name, _ in members]
    offsets = (ALIGNED + np.cumsum([0, *map(len, names)])).tolist()
    heap = bytes(ALIGNED) + b"".join(names)
    heap_header = struct.pack("<4sB3xQQQ", b"HEAP", 0, len(heap), 1, at)
    entries = [struct.pack("<QQ24x", offset, where) for offset, (_, where) in zip(offsets[:-1], members, strict=True)]
    most, first = 2 * _SYMBOLS_HALF, at + len(heap)
    parts = [entries[k : k + most] for k in range(0, len(entries), most)]
    leaves = [struct.pack("<4sBxH", b"SNOD", 1, len(p)) + b"".join(p).ljust(most * 40, b"\0") for p in parts]
    places = [first + k * len(leaves[0]) for k in range(len(leaves))]
    lasts = [min(k + most, len(entries)) - 1 for k in range(0, len(entries), most)]
    keys = [struct.pack("<Q", offset) for offset in (0, *(offsets[k] for k in lasts))]
    nodes, _ = _tree(first + len(leaves) * len(leaves[0]), 0, keys, places, 2 * _GROUP_HALF)
    return heap + b"".join(leaves) + b"".join(nodes[:-1]), heap_header, nodes[-1]


def _tree(at: int, kind: int, keys: list[bytes], children: list[int], most: int) -> tuple[list[bytes], int]:
    """Return a tree of version 1 (III.A.1), to be stored at address `at`. Child k lies between keys k and k + 1.

    Returns:
        The nodes level by level, the root last, and the address of the root.
    """
    nodes: list[bytes] = []
    level, size = 0, 24 + most * (len(keys[0]) + 8) + len(keys[0])
    while True:
        firsts = range(0, len(children), most)
        places = [at + size * (len(nodes) + k) for k in range(len(firsts))]
        beside = [UNDEFINED, *places, UNDEFINED]
        for k, first in enumerate(firsts):
            some = children[first : first + most]
            node = struct.pack("<4sBBHQQ", b"TREE", kind, level, len(some), beside[k], beside[k + 2])
            pairs = zip(keys[first:], some, strict=False)
            node += b"".join(key + struct.pack("<Q", child) for key, child in pairs) + keys[first + len(some)]
            nodes.append(node.ljust(size, b"\0"))
        if len(places) == 1:
            return nodes, places[0]
        keys = [*(keys[first] for first in firsts), keys[-1]]
        children, level = places, level + 1
