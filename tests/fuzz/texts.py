"""Damage to a text: its fields, lines and encoding."""

from __future__ import annotations

import re
from random import Random

from fuzz import plausible
from fuzz.numbers import TEXTS

_FIELD = re.compile(rb"[^\s:,(){}\[\]=\";]+")
_MARKS = (b":", b",", b"(", b")", b"{", b"}", b"[", b"]", b"=", b'"', b";", b"\n", b" ", b"#", b"-", b".", b"/*", b"*/")


def damage(random: Random, data: bytes) -> bytes:
    """The text with one damage."""
    return random.choice(_KINDS)(random, data)


def _fields(random: Random, data: bytes) -> bytes:
    """Another text in place of one field or a few; most often in the first lines, which say what follows."""
    end = len(data) if random.random() < 0.6 else min(len(data), 300)
    for _ in range(random.choice((1, 1, 1, 2))):
        found = list(_FIELD.finditer(data, 0, end))
        if found:
            first, last = random.choice(found).span()
            data = data[:first] + _other(random, data[first:last], data, found) + data[last:]
    return data


def _other(random: Random, field: bytes, data: bytes, found: list[re.Match[bytes]]) -> bytes:
    kind = random.random()
    if kind < 0.25:  # one that stands where such fields stand
        alike = [other[0] for other in found if other[0].isdigit() == field.isdigit()]
        return random.choice(alike)
    if kind < 0.6 and field.isdigit():
        return str(int(field[:30]) + random.choice((-1, 1, 2, -2, 10, 1000, -1000, 10**9, 2**31, 2**62))).encode()
    if kind < 0.7:
        return field + random.choice((b"0", b"000000000000", b"e9", b".", b"x"))
    return random.choice(TEXTS).encode()


def _mark(random: Random, data: bytes) -> bytes:
    """A separator more, less, or another one."""
    found = [m.span() for mark in _MARKS for m in re.finditer(re.escape(mark), data)]
    if not found:
        return data + random.choice(_MARKS)
    first, last = random.choice(found)
    new = random.choice((b"", data[first:last] * 2, random.choice(_MARKS)))
    return data[:first] + new + data[last:]


def _lines(random: Random, data: bytes) -> bytes:
    """Lines removed, doubled, swapped, moved, cut."""
    rows = data.splitlines(keepends=True) or [b""]
    at, other = random.randrange(len(rows)), random.randrange(len(rows))
    kind = random.randrange(6)
    if kind == 0:
        del rows[at]
    elif kind == 1:
        rows.insert(at, rows[at])
    elif kind == 2:
        rows[at], rows[other] = rows[other], rows[at]
    elif kind == 3:
        rows.insert(other, rows.pop(at))
    elif kind == 4:
        rows[at] = rows[at][: random.randrange(len(rows[at]) + 1)]
    else:
        rows[at] = rows[at] * random.choice((2, 100))
    return b"".join(rows)


def _encoding(random: Random, data: bytes) -> bytes:
    """Another encoding, another end of lines, a sign that no text has."""
    text = data.decode(errors="replace")
    at = random.randrange(len(data) + 1)
    return random.choice((
        lambda: text.encode("utf-16"),
        lambda: b"\xef\xbb\xbf" + data,
        lambda: data.replace(b"\n", b"\r\n"),
        lambda: data.replace(b"\n", b"\r"),
        lambda: data.replace(b"\n", b""),
        lambda: data.rstrip(b"\n"),
        lambda: data[:at] + random.choice((b"\0", b"\xff", b"\xc3", b"\x1a", "\u2028".encode())) + data[at:],
        lambda: data.upper(),
    ))()  # fmt: skip


_KINDS = (*[plausible.damage] * 6, *[_fields] * 4, _mark, _lines, _encoding)
