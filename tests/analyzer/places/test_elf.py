"""Contents of ELF files, against binutils."""

import lzma
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from whereabouts import THERE, compile_program, tool

from analyzer.places.elf import Elf, Functions, open_elf

pytestmark = pytest.mark.skipif("gcc" not in THERE, reason="gcc is not there")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compile_program(tmp_path_factory.mktemp("elf") / "program", "gcc", "-g", "-rdynamic")


def functions_by_nm(*words):
    """{address: names}"""
    found = {}
    for line in tool("nm", "--defined-only", *words).splitlines():
        address, kind, name = line.split()
        if kind in "tTwWi":
            found.setdefault(int(address, 16), set()).add(name.partition("@")[0])
    return found


def test_build_id(program):
    assert open_elf(program).build_id == re.search(r"Build ID: (\w+)", tool("readelf", "-n", program))[1]


def test_functions_of_the_table_of_symbols(program):
    by_nm = functions_by_nm(program)
    found = open_elf(program).functions()
    assert len(found.name) > 10 and (np.diff(found.address.astype(np.int64)) > 0).all()
    for address, name in zip(found.address.tolist(), found.name, strict=True):
        assert name in by_nm[address]
    assert {"main", "outer", "leaf"} <= set(found.name)


def test_functions_of_a_stripped_file(program, tmp_path):
    """The functions that it exports; and with .gnu_debugdata all that are in there."""
    stripped, kept = tmp_path / "stripped", tmp_path / "kept"
    tool("strip", "-o", stripped, program)
    found = open_elf(stripped).functions()
    assert {"main", "note", "_start"} <= set(found.name) and "outer" not in found.name
    entry = int(re.search(r"Entry point address:\s+(\w+)", tool("readelf", "-h", stripped))[1], 16)
    assert set(found.address.tolist()) <= {entry, *functions_by_nm("-D", stripped)}
    assert found.address[found.name.index("_start")] == entry
    tool("objcopy", "--only-keep-debug", program, kept)
    (tmp_path / "kept.xz").write_bytes(lzma.compress(kept.read_bytes()))
    tool("objcopy", "--add-section", f".gnu_debugdata={tmp_path / 'kept.xz'}", stripped)
    again = open_elf(stripped).functions()
    assert {"main", "note", "outer"} <= set(again.name)


def test_debug_link_and_sections(program, tmp_path):
    elf = open_elf(program)
    assert elf.has_debug_info and elf.debug_link() is None and elf.section(".nothing") == b""
    kept, stripped = tmp_path / "program.debug", tmp_path / "stripped"
    tool("objcopy", "--only-keep-debug", program, kept)
    tool("objcopy", "--strip-debug", f"--add-gnu-debuglink={kept}", program, stripped)
    elf = open_elf(stripped)
    assert not elf.has_debug_info and elf.debug_link()[0] == "program.debug"
    assert open_elf(kept).has_debug_info and open_elf(kept).build_id == elf.build_id
    assert open_elf(kept).section(".text") == b""  # named there, and not in the file


@pytest.mark.parametrize(("flags", "first"), [(("-no-pie", "-fno-pie"), 0x400000), (("-pie", "-fPIE"), 0)])
def test_load_address(tmp_path, flags, first):
    assert open_elf(compile_program(tmp_path / "program", "gcc", *flags)).load_address == first


def test_what_is_no_program(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("#!/bin/sh\n" * 100)
    (tmp_path / "begin").write_bytes(b"\x7fELF\x02\x01")
    for name in ("empty", "text", "begin", "missing", "."):
        assert open_elf(tmp_path / name) is None


def test_the_function_that_an_address_is_in():
    """By hand: 10 to 19, 20 up to the next, 40 to 41."""
    functions = Functions(np.array([10, 20, 40], np.uint64), np.array([10, 0, 2], np.uint64), ["a", "b", "c"])
    found = functions.find(np.array([9, 10, 19, 20, 39, 40, 41, 42], np.uint64))
    assert found.tolist() == [-1, 0, 0, 1, 1, 2, 2, -1]
    nothing = Functions(np.empty(0, np.uint64), np.empty(0, np.uint64), [])
    assert nothing.find(np.array([1], np.uint64)).tolist() == [-1]


@given(st.data())
def test_a_damaged_file_says_less(program, data):
    """Any bytes in the headers, the tables of sections or anywhere, and any length: no error."""
    contents = bytearray(program.read_bytes())
    whole = len(contents)
    sections = int.from_bytes(contents[40:48], "little")
    for _ in range(data.draw(st.integers(1, 6))):
        begin, end = data.draw(st.sampled_from([(6, 64), (sections, whole), (64, whole)]))
        at = data.draw(st.integers(begin, end - 1))
        contents[at : at + 1] = data.draw(st.binary(min_size=1, max_size=8))
    del contents[data.draw(st.sampled_from([whole, whole - 7, 5000, 200, 64])) :]
    elf = Elf(bytes(contents))
    elf.functions().find(np.arange(0, 9000, 7, dtype=np.uint64))
    assert (elf.build_id, elf.load_address, elf.debug_link(), elf.has_debug_info) is not None


def test_functions_of_the_c_library():
    """A large table: each address once."""
    maps = tool("cat", "/proc/self/maps")
    library = re.search(r"/\S*/libc[.-]\S+", maps)[0]
    found = open_elf(library).functions()
    by_nm = functions_by_nm("-D", library)
    assert all(name in by_nm.get(at, {name}) for at, name in zip(found.address.tolist(), found.name, strict=True))
    assert len(found.name) > 1000 and "qsort" in found.name
