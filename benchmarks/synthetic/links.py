"""run.h5 as the runtime writes it (`csrc/runtime/output/output.c`): one object header with a link for each rank."""

from __future__ import annotations

import struct
from pathlib import Path

from csrc.generate import links
from tracelib import schema

_LINK, _LINK_INFO = 6, 2  # types of messages
_EXTERNAL = 64
_ALIGNED = 8


def write_links(path: Path, ranks: int, created_ns: int) -> None:
    """Write links to the files in NAME.ranks/ beside `path`, of at most `links.MOST` ranks."""
    image, at = links.make(schema)
    head = bytearray(image)
    named = min(ranks, links.MOST)
    messages = [_message(_LINK_INFO, struct.pack("<BBQQ", 0, 0, 2**64 - 1, 2**64 - 1))]
    messages += [_link(f"{rank:06d}", f"{path.stem}.ranks/{rank:06d}.h5") for rank in range(named)]
    body = b"".join(messages)
    header = struct.pack("<BxHII4x", 1, len(messages), 1, len(body))
    struct.pack_into("<Q", head, at["size"], ranks)
    struct.pack_into("<Q", head, at["created"], created_ns)
    struct.pack_into("<Q", head, at["end_of_file"], len(head) + len(header) + len(body))
    path.write_bytes(bytes(head) + header + body)


def _message(kind: int, data: bytes) -> bytes:
    padded = data + bytes(-len(data) % _ALIGNED)
    return struct.pack("<HH4x", kind, len(padded)) + padded


def _link(name: str, file: str) -> bytes:
    """Return a link to the root of a file; version 1, the type is given, one byte for the length of the name."""
    value = b"\0" + file.encode() + b"\0/\0"
    return _message(
        _LINK, struct.pack("<BBBB", 1, 8, _EXTERNAL, len(name)) + name.encode() + struct.pack("<H", len(value)) + value
    )
