"""One damaged file of a seed."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from random import Random

from fuzz import raw, texts, trees

_HDF5, _GZIP = b"\x89HDF\r\n\x1a\n", b"\x1f\x8b"
_PACKED = 0.6
"""How often a gzip file is damaged before it is compressed."""


def damage(random: Random, path: Path) -> None:
    """Damage a file in one way, or, one after the other, in several; what h5py does comes first."""
    data = path.read_bytes()
    times = random.choice((1, 1, 1, 1, 2, 3))
    if data.startswith(_HDF5):
        raws = sum(random.random() < 0.5 for _ in range(times))
        kinds = [trees.damage] * (times - raws) + [_raw] * raws
    else:
        kinds = [_gzip if data.startswith(_GZIP) else _text if _is_text(data) else _raw] * times
    for kind in kinds:
        kind(random, path)


def _is_text(data: bytes) -> bool:
    return b"\0" not in data[:1000]


def _raw(random: Random, path: Path) -> None:
    path.write_bytes(raw.damage(random, path.read_bytes()))


def _text(random: Random, path: Path) -> None:
    damaged = texts.damage if random.random() < 0.8 else raw.damage
    path.write_bytes(damaged(random, path.read_bytes()))


def _gzip(random: Random, path: Path) -> None:
    try:
        text = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error):
        return _raw(random, path)
    if random.random() > _PACKED:
        return _raw(random, path)
    damaged = texts.damage if random.random() < 0.8 else raw.damage
    path.write_bytes(gzip.compress(damaged(random, text), mtime=0))
    return None
