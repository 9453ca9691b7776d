"""Damage to a file that needs no idea of what is in it."""

from __future__ import annotations

from random import Random

from fuzz.numbers import edge

LONGEST_BLOCK = 4096


def damage(random: Random, data: bytes) -> bytes:
    """The file with one damage to a few of its bytes, its blocks, or its end."""
    changed = bytearray(data)
    if changed:
        random.choice(_KINDS)(random, changed)
    else:
        changed += random.randbytes(random.randrange(64))
    return bytes(changed)


def _place(random: Random, data: bytearray) -> int:
    """Mostly where something stands: most of an HDF5 file is empty."""
    at = random.randrange(len(data))
    if random.random() < 0.8:
        for _ in range(200):
            if data[at]:
                break
            at = random.randrange(len(data))
    return at


def _block(random: Random, data: bytearray) -> tuple[int, int]:
    at = _place(random, data)
    return at, min(at + 1 + int(LONGEST_BLOCK ** random.random()), len(data))


def _flip(random: Random, data: bytearray) -> None:
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        data[_place(random, data)] ^= 1 << random.randrange(8)


def _change(random: Random, data: bytearray) -> None:
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        data[_place(random, data)] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))


def _number(random: Random, data: bytearray) -> None:
    size = random.choice((1, 2, 4, 8))
    at = _place(random, data) // size * size
    data[at : at + size] = edge(random, 8 * size).to_bytes(size, "little")[: len(data) - at]


def _cut(random: Random, data: bytearray) -> None:
    del data[random.randrange(len(data)) :]


def _remove(random: Random, data: bytearray) -> None:
    first, last = _block(random, data)
    del data[first:last]


def _double(random: Random, data: bytearray) -> None:
    first, last = _block(random, data)
    data[last:last] = data[first:last]


def _insert(random: Random, data: bytearray) -> None:
    at, length = _place(random, data), random.choice((1, 2, 8, 64, 1000))
    data[at:at] = random.choice((bytes(length), b"\xff" * length, random.randbytes(length)))


def _overwrite(random: Random, data: bytearray) -> None:
    first, last = _block(random, data)
    length = last - first
    data[first:last] = random.choice((bytes(length), b"\xff" * length, random.randbytes(length)))


def _swap(random: Random, data: bytearray) -> None:
    first, last = _block(random, data)
    other = random.randrange(len(data) - (last - first) + 1)
    here, there = bytes(data[first:last]), bytes(data[other : other + last - first])
    data[first:last], data[other : other + last - first] = there, here


_KINDS = (_flip, _flip, _change, _change, _number, _number, _cut, _remove, _double, _insert, _overwrite, _swap)
