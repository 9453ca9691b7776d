"""Damage to a text that stays well-formed: numbers that could stand there, records that are elsewhere or not at all.
What a reader refuses is not tried further; this is for what comes after it."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from random import Random

_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
_RECORD = re.compile(rb"\d+(?::-?[\d.]+)+\n?")
_OFFSETS = re.compile(rb'(#DIMEMAS:(?:"[^"]*"|[^:]*)):1,\d+:')

Change = Callable[[bytes], bytes]


def damage(random: Random, data: bytes) -> bytes:
    """The text with one damage."""
    return without_offsets(random.choice(_KINDS)(random, data))


def without_offsets(data: bytes) -> bytes:
    """A .dim that says nothing of where its threads begin, as no longer or shorter line fits what it says of that."""
    lines = _OFFSETS.sub(rb"\1:0:", data).splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b"s:"))


def _change(random: Random) -> Change:
    """Draw a change of a number."""
    kind = random.randrange(5)
    if kind == 0:
        new = random.choice((0, 1, 2, 3, 7, 64, 1000, 65536, 10**6, 10**9, 2**31 - 1, 10**12, 2**40, 10**15, 10**18))
        return lambda old: str(new).encode()
    if kind == 1:
        new = random.choice(("0.0", "0.5", "1.5", "1e-9", "1e-3", "1e3", "1e9", "1e15"))
        return lambda old: new.encode() if b"." in old or b"e" in old else old + b"0"
    if kind == 2:
        by = random.choice((0.5, 2, 3, 10, 1000, 10**6, 10**9))
        return lambda old: _alike(old, float(old) * by)
    by = random.choice((-1, 1, 2, 100, -100, 10**6, -1000))
    return lambda old: _alike(old, abs(float(old) + by))


def _alike(old: bytes, number: float) -> bytes:
    """A number in the form that another has, which stays where the new one is too large."""
    if not isfinite(number):
        return old
    if b"e" in old:
        return f"{number:e}".encode()
    if b"." in old:
        return f"{number:.{len(old.partition(b'.')[2])}f}".encode()
    return str(int(number)).encode()


def _numbers(random: Random, data: bytes) -> bytes:
    """One number or a few, wherever they stand."""
    change, found = _change(random), list(_NUMBER.finditer(data))
    for match in sorted(random.sample(found, min(len(found), random.choice((1, 1, 2, 5)))), key=lambda m: -m.start()):
        data = data[: match.start()] + change(match[0]) + data[match.end() :]
    return data


def _exchange(random: Random, data: bytes) -> bytes:
    """Two numbers, each at the other's place."""
    found = list(_NUMBER.finditer(data))
    if len(found) < 2:
        return data
    one, two = sorted(random.sample(found, 2), key=lambda m: m.start())
    return data[: one.start()] + two[0] + data[one.end() : two.start()] + one[0] + data[two.end() :]


def _lines(random: Random, data: bytes) -> bytes:
    """Some lines less, twice, or in another order: a tenth of them, or a piece."""
    rows = data.splitlines(keepends=True)
    first = random.randrange(1, max(2, len(rows)))
    last = random.randrange(first, len(rows) + 1) if first < len(rows) else first
    kind = random.randrange(4)
    if kind == 0:
        rows = rows[:1] + [row for row in rows[1:] if random.random() > 0.1]
    elif kind == 1:
        rows[first:first] = rows[first:last]
    elif kind == 2:
        rows[first:last] = random.sample(rows[first:last], last - first)
    else:
        del rows[first:last]
    return b"".join(rows)


def _chosen(random: Random, rows: list[bytes]) -> tuple[list[int], int]:
    """Places of records of one kind, and one of their columns."""
    places = [place for place, row in enumerate(rows) if _RECORD.fullmatch(row)]
    if not places:
        return [], 0
    example = rows[random.choice(places)].split(b":")
    alike = [place for place in places if _shape(rows[place]) == (example[0], len(example))]
    return alike, max(random.randrange(1, len(example)) for _ in range(2))  # the first ones say whose it is


def _shape(row: bytes) -> tuple[bytes, int]:
    fields = row.split(b":")
    return fields[0], len(fields)


def _column(random: Random, data: bytes) -> bytes:
    """Make one change in one column: of all records of a kind, of many, or of the records with one value."""
    rows = data.splitlines(keepends=True)
    alike, column = _chosen(random, rows)
    change, kept = _change(random), random.choice((1.0, 0.5, 0.1))
    for place in alike:
        if random.random() < kept:
            fields = rows[place].rstrip(b"\n").split(b":")
            if _NUMBER.fullmatch(fields[column]):
                fields[column] = change(fields[column])
            rows[place] = b":".join(fields) + b"\n"
    return b"".join(rows)


def _permute(random: Random, data: bytes) -> bytes:
    """A column whose values stand in other records of the kind."""
    rows = data.splitlines(keepends=True)
    alike, column = _chosen(random, rows)
    some = random.sample(alike, min(len(alike), random.choice((2, 3, 10**9))))
    fields = [rows[place].rstrip(b"\n").split(b":") for place in some]
    values = random.sample([of[column] for of in fields], len(fields))
    for place, of, value in zip(some, fields, values, strict=True):
        of[column] = value
        rows[place] = b":".join(of) + b"\n"
    return b"".join(rows)


def _drop(random: Random, data: bytes) -> bytes:
    """No records of a kind that have a value in a column, or only the first half of them: sends without receives."""
    rows = data.splitlines(keepends=True)
    alike, column = _chosen(random, rows)
    if not alike:
        return _lines(random, data)
    value = rows[random.choice(alike)].rstrip(b"\n").split(b":")[column]
    same = [place for place in alike if rows[place].rstrip(b"\n").split(b":")[column] == value]
    gone = {*same[random.choice((0, len(same) // 2)) :]}
    return b"".join(row for place, row in enumerate(rows) if place not in gone)


_KINDS = (_numbers, _numbers, _exchange, _lines, _column, _column, _permute, _drop)
