"""Names that were found stay, and better ones take their place."""

import shutil

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_process import own_process
from path_tables import path_tables
from whereabouts import THERE, addresses_of, compile_program, noted, tool

from analyzer.places import (
    ModuleNames,
    NameCache,
    cached_file,
    look_up,
    lookup,
    named_places,
    naming,
    places_file,
    read_names,
    write_names,
)
from analyzer.places.modules import LoadedModule, ModuleState
from analyzer.places.name_table import Frame, PlaceFrames, joined
from analyzer.places.places_file import from_group, to_group

frame = st.builds(
    Frame, st.sampled_from(["", "f", "g(int)"]), st.sampled_from(["", "/a.c"]), st.integers(0, 9), st.integers(0, 9)
)
named = st.dictionaries(st.integers(0, 9), st.lists(frame, max_size=3).map(tuple), max_size=6)


def module_names(named, module=LoadedModule("/bin/app"), state=ModuleState.GOOD, stamp="x"):  # noqa: B008
    offsets = np.array(sorted(named), np.uint64)
    return ModuleNames(module, offsets, PlaceFrames.build(named[int(offset)] for offset in offsets), state, stamp)


def as_dictionary(found):
    return {int(offset): found.names[i] for i, offset in enumerate(found.offsets)}


def quality(frames):
    return 2 if any(f.line for f in frames) else int(bool(frames))


@given(st.lists(named, max_size=4))
def test_of_each_place_the_better_names_stay(parts):
    known, expected = NameCache(), {}
    for part in parts:
        known.add(module_names(part))
        for offset, frames in part.items():
            if offset not in expected or quality(frames) >= quality(expected[offset]):
                expected[offset] = frames
    assert as_dictionary(known.module_names(LoadedModule("/bin/app"))) == expected


@given(st.lists(named, max_size=4), st.data())
def test_names_as_columns(parts, data):
    everything = [frames for part in parts for frames in part.values()]
    names = joined([PlaceFrames.build(part.values()) for part in parts])
    assert [names[i] for i in range(len(names))] == everything
    assert names.quality().tolist() == [quality(frames) for frames in everything]
    chosen = data.draw(st.lists(st.integers(-1, len(everything) - 1)))
    taken = names.take(np.array(chosen, np.int64))
    assert [taken[i] for i in range(len(taken))] == [everything[i] if i >= 0 else () for i in chosen]


modules = st.lists(
    st.tuples(
        st.sampled_from(["/bin/app", "/lib/é b.so"]),
        st.sampled_from(["", "ab" * 20]),
        named,
        st.sampled_from(ModuleState),
    ),
    max_size=4,
)


@given(modules)
def test_written_and_read_again(tmp_path_factory, modules):
    known = NameCache()
    for path, build_id, part, state in modules:
        known.add(module_names(part, LoadedModule(path, build_id), state, f"{path} 1 2"))
    folder = tmp_path_factory.mktemp("written")
    assert write_names(known, [folder / "places.h5"]) == folder / "places.h5"
    again = read_names([folder / "places.h5"])
    assert again.modules.keys() == known.modules.keys()
    for identity, found in known.modules.items():
        other = again.modules[identity]
        assert (other.module, other.state, other.stamp) == (found.module, found.state, found.stamp)
        assert as_dictionary(other) == as_dictionary(found)
    assert [path.name for path in folder.iterdir()] == ["places.h5"]


def some_names():
    known = NameCache()
    known.add(module_names({7: (Frame("f", "/a.c", 3),)}))
    return known


def test_a_group_of_another_file_holds_the_same(tmp_path):
    with h5py.File(tmp_path / "packed.h5", "w") as file:
        to_group(some_names(), file.create_group("names"))
    with h5py.File(tmp_path / "packed.h5") as file:
        (found,) = from_group(file["names"])
    assert as_dictionary(found) == {7: (Frame("f", "/a.c", 3),)}


def test_the_first_place_that_can_be_written(tmp_path):
    (tmp_path / "file").touch()
    second = tmp_path / "new" / "folder" / "places.h5"
    assert write_names(some_names(), [tmp_path / "file" / "places.h5", second]) == second
    assert write_names(some_names(), [tmp_path / "file" / "places.h5"]) is None
    assert len(read_names([tmp_path / "file" / "places.h5", second]).modules) == 1


def test_where_names_are_kept(tmp_path, monkeypatch):
    assert places_file(tmp_path / "run.ranks") == tmp_path / "run.ranks" / "places.h5"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = [cached_file(tmp_path / name) for name in ("run.h5", "run-2.h5")]
    assert len({*found}) == 2 and all(path.parent == tmp_path / "cache" / "tracelib" / "places" for path in found)


def test_a_file_that_is_damaged_or_of_a_later_version_holds_nothing(tmp_path):
    path = tmp_path / "places.h5"
    write_names(some_names(), [path])
    whole = path.read_bytes()
    with own_process() as process:  # libhdf5 may write anywhere for damaged files
        for damaged in (b"", whole[:100], whole[: len(whole) // 2], b"nonsense" * 999):
            path.write_bytes(damaged)
            assert not process.submit(read_names, [path]).result().modules
    path.write_bytes(whole)
    with h5py.File(path, "r+") as file:
        file["places"].attrs["version"] = 99
    assert not read_names([path]).modules


@given(st.data())
def test_tables_that_do_not_fit_hold_nothing(tmp_path_factory, data):
    """One number is another: names that are well-formed, or none."""
    path = tmp_path_factory.mktemp("damaged") / "places.h5"
    write_names(some_names(), [path])
    with h5py.File(path, "r+") as file:
        table = file["places"][data.draw(st.sampled_from(["modules", "places", "frames", "texts", "paths", "stamps"]))]
        rows = table[:]
        numbers = [name for name in rows.dtype.names or () if rows.dtype[name].kind == "u"]
        column = data.draw(st.sampled_from(numbers or [...]))
        rows[column] = data.draw(st.integers(0, 255))
        table[:] = rows
    for found in read_names([path]).modules.values():
        assert len(as_dictionary(found)) == len(found.names)


@pytest.fixture
def program(tmp_path):
    if "gcc" not in THERE:
        pytest.skip("gcc is not there")
    return compile_program(tmp_path / "solver", "gcc", "-O0", "-g")


def tables_of(program, notes):
    build_id = tool("readelf", "-n", program).partition("Build ID: ")[2].split()[0]
    return path_tables([[(str(program), int(at))] for at in addresses_of(notes)], [(str(program), build_id)])


def lines_of(places):
    return {places.line(place) for place in places.place[1:]}


def notes_of(places):
    return places.notes(np.arange(len(places.paths)))


def test_a_second_look_reads_no_program(program, tmp_path, monkeypatch):
    notes = noted(program)
    tables, file = tables_of(program, notes), tmp_path / "run.ranks" / "places.h5"
    first = named_places(tables, [file])
    assert lines_of(first) == {note.line for note in notes} and file.exists()
    monkeypatch.setattr(lookup, "find_module", None)
    assert lines_of(named_places(tables, [file])) == lines_of(first)


def test_names_travel_with_the_run(program, tmp_path):
    """On a machine that does not have the program, names are not reported as missing."""
    notes = noted(program)
    tables = tables_of(program, notes)
    named_places(tables, [tmp_path / "places.h5"])
    program.unlink()
    written = (tmp_path / "places.h5").stat().st_mtime_ns
    elsewhere = named_places(tables, [tmp_path / "places.h5"])
    assert lines_of(elsewhere) == {note.line for note in notes} and not notes_of(elsewhere)
    assert (tmp_path / "places.h5").stat().st_mtime_ns == written
    (said,) = notes_of(named_places(tables, [tmp_path / "others.h5"]))
    assert said.startswith(f"{program} is not on this machine")


def test_names_of_some_places_only(program, tmp_path):
    """A line says why the other places have no names here, and for functions only, why when they were found."""
    notes = noted(program)
    tables, files = tables_of(program, notes), [tmp_path / "places.h5"]
    tool("strip", "-g", program)
    named_places(tables_of(program, notes[:1]), files)
    program.unlink()
    said = notes_of(named_places(tables, files))
    assert [text.split(" ")[0] for text in said] == [str(program), "solver"]
    assert "is not on this machine" in said[0] and "has no debug information" in said[1]


def test_a_reader_that_is_installed_later_is_asked(program, tmp_path, monkeypatch):
    notes = noted(program)
    tables, files = tables_of(program, notes), [tmp_path / "places.h5"]
    with monkeypatch.context() as patch:
        patch.setattr(naming, "can_read", lambda: False)
        patch.setattr(naming, "tool", lambda: None)
        patch.setattr(naming, "tool", lambda: None)
        places = named_places(tables, files)
        assert lines_of(places) == {0} and "is not read here" in notes_of(places)[0]
    assert lines_of(named_places(tables, files)) == {note.line for note in notes}


def test_debug_information_that_comes_later_gives_better_names(program, tmp_path):
    notes = noted(program)
    tables, whole, files = tables_of(program, notes), program.read_bytes(), [tmp_path / "places.h5"]
    tool("strip", "-g", program)
    assert lines_of(named_places(tables, files)) == {0}
    assert lines_of(named_places(tables, files)) == {0}
    program.write_bytes(whole)
    assert lines_of(named_places(tables, files)) == {note.line for note in notes}


def test_a_program_that_was_compiled_again_changes_no_name(program, tmp_path):
    notes = noted(program)
    tables, files = tables_of(program, notes), [tmp_path / "places.h5"]
    before = lines_of(named_places(tables, files))
    shutil.copy(compile_program(tmp_path / "other", "gcc", "-O1", "-g"), program)
    assert lines_of(named_places(tables, files)) == before
    (said,) = notes_of(named_places(tables, []))
    assert said.startswith(f"{program} is not the file that ran")


def test_libraries_that_are_not_shown_are_named_by_symbols(program, tmp_path):
    """Debug information of MPI and of the C library is not read."""
    library = tmp_path / "libmpi.so.40"
    shutil.copy(program, library)
    tables, known = tables_of(library, noted(program)), NameCache()
    assert look_up(tables, known)
    (found,) = known.modules.values()
    assert found.names.quality().tolist() == [1] * len(found.names)
