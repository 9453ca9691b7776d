"""Damage to an HDF5 file that h5py can do: to attributes, columns, lengths, types and links."""

from __future__ import annotations

from pathlib import Path
from random import Random

import h5py
import numpy as np

from fuzz.numbers import edge

_MOST_ROWS = 10**7
_FLOATS = (0.0, -0.0, -1.0, 1e-300, 1e300, np.inf, -np.inf, np.nan, 5e-324)


def damage(random: Random, path: Path) -> None:
    """Change the file at one place. Does nothing if h5py cannot open it."""
    for kind in random.sample(_KINDS, len(_KINDS)):
        try:
            with h5py.File(path, "r+", locking=False) as file:
                return kind(random, file)
        except (OSError, ValueError, RuntimeError, KeyError, TypeError, OverflowError, IndexError, MemoryError):
            continue  # h5py refused the change, there is nothing to change, or an earlier change has damaged the file
    return None


def _tables(file: h5py.File) -> list[h5py.Dataset]:
    """All of them but those that have become so long that HDF5 would look for their chunks for minutes."""
    found: list[h5py.Dataset] = []
    file.visititems(lambda name, thing: found.append(thing) if isinstance(thing, h5py.Dataset) else None)
    return [table for table in found if (table.size or 0) <= _MOST_ROWS]


def _holders(file: h5py.File) -> list[h5py.Group]:
    found: list[h5py.Group] = [file]
    file.visititems(lambda name, thing: found.append(thing) if isinstance(thing, h5py.Group) else None)
    return found


def _value(random: Random, dtype: np.dtype, count: int) -> np.ndarray:
    """Values of a type, at the edges of what it holds."""
    if dtype.kind == "f":
        return np.array([random.choice(_FLOATS) for _ in range(count)]).astype(dtype)
    if dtype.kind in "iu":
        bits = 8 * dtype.itemsize
        return np.array([edge(random, bits) for _ in range(count)], f"<u{dtype.itemsize}").view(dtype)
    return np.frombuffer(random.randbytes(dtype.itemsize * count), np.uint8).view(f"V{dtype.itemsize}").view(dtype)


def _cell(random: Random, file: h5py.File) -> None:
    """One number, a few rows of a column, or all of it."""
    tables = [table for table in _tables(file) if table.shape and table.shape[0] and table.dtype.kind in "iufV"]
    table = random.choice(tables)
    rows = table[:]
    first = random.randrange(len(rows))
    last = random.choice((first + 1, first + 1, min(first + 3, len(rows)), len(rows)))
    column = rows[random.choice(rows.dtype.names)] if rows.dtype.names else rows
    chosen = column[first:last]
    if chosen.dtype.kind in "iuf":
        same = random.random() < 0.5
        flat = _value(random, chosen.dtype, 1 if same else chosen.size)
        chosen[...] = flat[0] if same else flat.reshape(chosen.shape)
    elif chosen.dtype.kind == "S":
        chosen[...] = random.choice((b"", b"\xff\xfe", b"x" * chosen.dtype.itemsize, b"../..", b"a\0b"))
    table[:] = rows


def _order(random: Random, file: h5py.File) -> None:
    """Rows in another order, or some of them twice."""
    table = random.choice([table for table in _tables(file) if table.shape and table.shape[0] > 1])
    rows = table[:]
    place = [random.randrange(len(rows)) for _ in rows] if random.random() < 0.5 else list(range(len(rows)))[::-1]
    table[:] = rows[place]


def _length(random: Random, file: h5py.File) -> None:
    table = random.choice([table for table in _tables(file) if table.maxshape and table.maxshape[0] is None])
    table.resize((random.choice((0, 1, len(table) + 1, 2 * len(table), 10**6, 10**12, 2**62)),))


def _attribute(random: Random, file: h5py.File) -> None:
    """Another value, type or shape of an attribute, or none."""
    holder = random.choice([*_holders(file), file, *_tables(file)])
    names = list(holder.attrs)
    if not names:
        holder = file
        names = list(file.attrs)
    name = random.choice(names)
    value = np.asarray(holder.attrs[name])
    kind = random.randrange(8)
    if kind < 4 and value.dtype.kind in "iuf":
        holder.attrs.modify(name, _value(random, value.dtype, 1)[0])
    elif kind < 4:
        holder.attrs[name] = np.bytes_(random.choice((b"", b"\xff\xfe", b"/", b"x" * 3000, b"../../x", b"a\0b")))
    elif kind == 4:
        del holder.attrs[name]
    elif kind == 5:
        holder.attrs[name] = random.choice(("text", "", "\u00e9", 1.5, np.nan, -1, 2**64 - 1, b"bytes", True))
    elif kind == 6:
        holder.attrs[name] = random.choice((np.zeros(0), np.arange(3), np.zeros((2, 2)), np.zeros(2, "S3")))
    else:
        holder.attrs[name] = h5py.Empty("<u8")


def _type(random: Random, file: h5py.File) -> None:
    """A table of other columns, dimensions or kind under the same name."""
    table = random.choice([table for table in _tables(file) if table.shape])
    name, rows, parent = table.name.rpartition("/")[2], table[()], table.parent
    del parent[name]
    names = rows.dtype.names or ()
    others = [
        rows.astype("f8") if rows.dtype.kind in "iu" else rows,
        np.zeros(3),
        np.zeros((2, 2)),
        np.int64(1),
        "text",
    ]
    others += [h5py.Empty("<u8"), np.zeros(0, "<u8"), np.array([b"x"]), np.zeros(len(rows) if rows.shape else 1, "<i2")]
    if len(names) > 1:
        kept = [n for n in names if n != random.choice(names)]
        others += [_columns(rows, kept), _columns(rows, [*names[1:], names[0]])]
    parent[name] = random.choice(others)


def _columns(rows: np.ndarray, names: list[str]) -> np.ndarray:
    found = np.zeros(rows.shape, [(name, rows.dtype[name]) for name in names])
    for name in names:
        found[name] = rows[name]
    return found


def _link(random: Random, file: h5py.File) -> None:
    """A link that is gone, leads elsewhere, in a circle, or to something else."""
    group = random.choice([group for group in _holders(file) if len(group)])
    name = random.choice(list(group))
    other = random.choice(list(group))
    link = group.get(name, getlink=True)
    target = link.filename if isinstance(link, h5py.ExternalLink) else ""
    del group[name]
    kind = random.randrange(8)
    if kind == 1:
        group[name] = h5py.SoftLink(random.choice(("/nowhere", f"{group.name}/{name}", "/", "", f"/{other}")))
    elif kind == 2:
        group[name] = h5py.ExternalLink(
            random.choice((Path(file.filename).name, "nowhere.h5", "", ".", "/dev/null")), "/"
        )
    elif kind == 3:
        group[name] = h5py.ExternalLink(target or "good.h5", random.choice(("/calls", "/nowhere", "")))
    elif kind == 4 and name != other:
        group[name] = group[other] if not isinstance(group.get(other, getlink=True), h5py.ExternalLink) else group
    elif kind == 5:
        group[name] = file
    elif kind == 6:
        group.create_group(name)
    elif kind == 7:
        group[f"{name}0"] = np.zeros(3)


def _filter(random: Random, file: h5py.File) -> None:
    """The same rows, stored otherwise."""
    table = random.choice([table for table in _tables(file) if table.shape and len(table.shape) == 1])
    name, rows, parent = table.name.rpartition("/")[2], table[:], table.parent
    del parent[name]
    how = random.choice(({"compression": "gzip"}, {"fletcher32": True}, {"shuffle": True}, {}, {"compression": "lzf"}))
    parent.create_dataset(name, data=rows, **(how if len(rows) else {}))


_KINDS = (_cell, _cell, _cell, _cell, _order, _length, _attribute, _attribute, _type, _link, _filter)
