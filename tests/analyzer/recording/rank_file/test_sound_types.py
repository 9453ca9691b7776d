"""Columns of types that no file of ours has: libhdf5 takes them, and writes beyond the memory it is given."""

import contextlib
import re

import h5py
import numpy as np
import pytest
from h5py import h5a, h5d, h5s, h5t
from synthetic_net import LARGE, in_visits, write_net

from analyzer.errors import TracelibError
from analyzer.network_measurement.netfile import read_measurement
from analyzer.recording.rank_file.tables import Table, rows_of
from tracelib.schema import net
from tracelib.schema.sound import SoundAttributes

EIGHT = 8


def long_mantissa():
    """A float of 8 bytes that claims a mantissa of more: numpy is told 16 bytes."""
    kind = h5t.IEEE_F64LE.copy()
    kind.set_fields(63, 52, 11, 0, 40)
    return kind


def of_twenty_bits():
    kind = h5t.STD_I32LE.copy()
    kind.set_precision(20)
    return kind


def of_no_known_kind():
    """A text of any length whose kind is damaged is a sequence."""
    return h5t.vlen_create(h5t.STD_U8LE)


def inside(kind):
    """A column of that type beside a sound one."""
    table = h5t.create(h5t.COMPOUND, kind.get_size() + EIGHT)
    table.insert(b"sound", 0, h5t.STD_I64LE)
    table.insert(b"strange", EIGHT, kind)
    return table


@pytest.fixture
def stored(tmp_path):
    """A file with a table of any type, opened."""
    with h5py.File(tmp_path / "file.h5", "w") as file:

        def store(kind):
            return h5d.create(file.id, b"table", kind, h5s.create_simple((3,)))

        yield store


@pytest.mark.parametrize("make", [long_mantissa, of_twenty_bits, of_no_known_kind])
@pytest.mark.parametrize("around", [lambda kind: kind, inside])
def test_a_type_that_cannot_be_is_refused(stored, make, around):
    with pytest.raises(TypeError, match="type that cannot be"):
        Table(stored(around(make())))


def test_a_table_with_one_is_refused(stored):
    file = h5py.File(h5py.h5i.get_file_id(stored(inside(of_twenty_bits()))))
    with pytest.raises(TypeError, match="type that cannot be"):
        rows_of(file, "table", np.dtype([("sound", "<i8")]))


@pytest.mark.parametrize("make", [long_mantissa, of_twenty_bits, of_no_known_kind])
def test_an_attribute_of_one_is_refused(tmp_path, make):
    with h5py.File(tmp_path / "file.h5", "w") as file:
        h5a.create(file.id, b"strange", make(), h5s.create_simple((1,)))
        file.attrs["sound"] = "text"
        given = SoundAttributes(file)
        assert (given["sound"], len(given), given.get("none")) == ("text", 2, None)
        with pytest.raises(TypeError, match="attribute strange has a type that cannot be"):
            given["strange"]


VARIABLE_TEXT = bytes([0x19, 1])
"""How HDF5 begins the type of a text of any length: version and class, and which kind of that class (1: a text)."""


def test_damaged_texts_of_a_measured_network(tmp_path):
    """One byte of the type of a text, in an attribute or a column, and libhdf5 reads where it must not."""
    sizes = np.unique(np.geomspace(1, 100_000, 24).astype(int))
    path = write_net(tmp_path / "net.h5", in_visits(LARGE["IB+OpenMPI"], sizes, visits=4), [(0, 1, "intra")])
    whole, refused = path.read_bytes(), 0
    for found in re.finditer(re.escape(VARIABLE_TEXT), whole):
        path.write_bytes(whole[: found.end() - 1] + b"\3" + whole[found.end() :])
        with contextlib.suppress(TracelibError):
            read_measurement(path)
            continue
        refused += 1
    assert refused >= len([*net.HOST.names, *net.PAIR.names])


@pytest.mark.parametrize(
    "kind",
    [net.HOST, net.PAIR, net.ROW, np.dtype("<f4"), np.dtype(">f8"), np.dtype("?"), np.dtype(("<u2", (3,))), "S5"],
)
def test_what_is_written_here_is_taken(stored, kind):
    assert len(Table(stored(h5t.py_create(np.dtype(kind), logical=True)))) == 3
