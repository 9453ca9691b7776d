"""Functions of stripped programs, against the symbols that were taken out of them, and against readelf."""

import random
import re

import numpy as np
import pytest
from path_tables import path_tables
from whereabouts import THERE, addresses_of, compile_program, noted, tool

from analyzer.places import NameCache, Places, look_up
from analyzer.places.elf import Elf, open_elf
from analyzer.places.modules import LoadedModule

pytestmark = pytest.mark.skipif("gcc" not in THERE, reason="gcc is not there")
WAYS = {
    "O0": ("-O0",),
    "O2": ("-O2",),
    "O3": ("-O3", "-fomit-frame-pointer"),
    "no-pie": ("-O2", "-no-pie", "-fno-pie"),
    "gold": ("-O2", "-fuse-ld=gold"),
}


@pytest.fixture(scope="module", params=WAYS)
def both(request, tmp_path_factory):
    """A program, and its stripped copy."""
    folder = tmp_path_factory.mktemp("bounds")
    program = compile_program(folder / "whole", "gcc", *WAYS[request.param])
    tool("strip", "-s", "-o", folder / "solver", program)
    return program, folder / "solver"


def functions_by_nm(program):
    """{begin: end} of functions whose size is known."""
    rows = (line.split() for line in tool("nm", "-S", "--defined-only", program).splitlines())
    return {int(row[0], 16): int(row[0], 16) + int(row[1], 16) for row in rows if len(row) == 4 and row[2] in "tTwWi"}


def described(program):
    """{begin: end} by readelf."""
    found = re.findall(r"FDE .* pc=(\w+)\.\.(\w+)", tool("readelf", "--debug-dump=frames", program))
    return {int(begin, 16): int(end, 16) for begin, end in found}


def find(program, addresses):
    return open_elf(program).function_bounds().find(np.array(addresses, np.uint64)).tolist()


def test_all_that_is_described_is_found(both):
    truth = described(both[0])
    begins = sorted(truth)
    assert len(begins) >= 5
    assert find(both[1], begins) == begins
    assert find(both[1], [(begin + truth[begin] - 1) // 2 for begin in begins]) == begins
    assert find(both[1], [truth[begin] - 1 for begin in begins]) == begins
    outside = [truth[begin] for begin in begins if truth[begin] not in truth]
    assert find(both[1], [0, begins[0] - 1, *outside, 1 << 62]) == [-1] * (len(outside) + 3)


def test_functions_begin_where_their_symbols_are(both):
    """But for parts of a function that compilers put elsewhere, as functions of their own."""
    truth = described(both[0])
    by_nm = {begin: end for begin, end in functions_by_nm(both[0]).items() if begin in truth}
    assert len(by_nm) >= 4
    assert find(both[1], list(by_nm)) == list(by_nm)


def test_places_of_a_stripped_program_have_functions(both):
    """They are named by where the function begins, and by how far behind that they are."""
    program, stripped = both
    notes, by_nm = noted(program), functions_by_nm(program)
    addresses = addresses_of(notes).tolist()
    tables = path_tables([[(str(stripped), address)] for address in addresses], [(str(stripped), "")])
    known = NameCache()
    assert look_up(tables, known)
    places, begins = Places(tables, known), {}
    for path, row in enumerate(tables.paths[1:], 1):
        address, place = int(row["offset"]), int(places.place[path])
        (begin,) = {begin for begin, end in by_nm.items() if begin < address <= end}
        begins.setdefault(begin, set()).add(places.function(place))
        assert places.text(place) == f"{places.function(place)}+{address - begin:#x}"
    assert all(len(functions) == 1 for functions in begins.values())
    named = {begin for begin, functions in begins.items() if functions == {f"solver+{begin:#x}"}}
    assert named and all(begins[begin] & {"main", "note"} for begin in set(begins) - named)


def test_a_name_that_was_known_stays_when_the_program_is_stripped(tmp_path):
    program = compile_program(tmp_path / "solver", "gcc", "-O0")
    addresses = addresses_of(noted(program)).tolist()
    build_id = open_elf(program).build_id
    tables = path_tables([[(str(program), address)] for address in addresses], [(str(program), build_id)])
    known = NameCache()
    assert look_up(tables, known)
    before = [known.module_names(LoadedModule(str(program), build_id)).names[i] for i in range(len(set(addresses)))]
    tool("strip", "-s", program)
    look_up(tables, known)
    after = known.module_names(LoadedModule(str(program), build_id)).names
    assert [after[i] for i in range(len(after))] == before
    assert all(frames[0].function for frames in before)


def test_damaged_files_have_fewer_functions(tmp_path):
    """Whatever stands in them, there is an answer: a begin that is not behind the address, or none."""
    whole = bytearray(compile_program(tmp_path / "whole", "gcc", "-O2").read_bytes())
    index = re.search(r"GNU_EH_FRAME\s+0x(\w+) 0x\w+ 0x\w+ 0x(\w+)", tool("readelf", "-lW", tmp_path / "whole"))
    first, size = (int(number, 16) for number in index.groups())
    addresses = np.array([*range(0, 0x5000, 0x10), 1 << 40, (1 << 64) - 1], np.uint64)
    chance = random.Random(5)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 3, 30])):
            data[first + chance.randrange(size + 600)] = chance.randrange(256)
        begins = Elf(bytes(data)).function_bounds().find(addresses)
        assert ((begins == -1) | (begins <= addresses.astype(np.int64))).all()
