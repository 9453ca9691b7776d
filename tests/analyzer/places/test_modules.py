"""Whether the file here is the one that ran, where its debug information is, and what is said about it."""

import os
import shutil

import pytest
from whereabouts import THERE, addresses_of, compile_program, noted, tool

from analyzer.places.elf import open_elf
from analyzer.places.modules import LoadedModule, ModuleState, find_module, sentence
from analyzer.places.naming import name_places

pytestmark = pytest.mark.skipif("gcc" not in THERE, reason="gcc is not there")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return compile_program(tmp_path_factory.mktemp("modules") / "solver", "gcc", "-O2", "-g")


@pytest.fixture
def moved(built, tmp_path):
    """The program, stripped, and a file with all that was taken out of it."""
    program, kept = tmp_path / "bin" / "solver", tmp_path / "kept" / "solver.debug"
    program.parent.mkdir()
    kept.parent.mkdir()
    tool("objcopy", "--only-keep-debug", built, kept)
    tool("objcopy", "--strip-all", f"--add-gnu-debuglink={kept}", built, program)
    return program, kept


def lines_of(program, notes, folders):
    _, frames = name_places(find_module(LoadedModule(str(program)), folders=folders), addresses_of(notes))
    return [named[0].line if named else 0 for named in frames]


def places_of(built):
    notes = noted(built)
    return notes, [note.line for note in notes]


def test_debug_information_in_a_file_beside_it(built, moved, tmp_path):
    (program, kept), (notes, lines) = moved, places_of(built)
    assert not any(lines_of(program, notes, []))
    for folder in (program.parent, program.parent / ".debug"):
        folder.mkdir(exist_ok=True)
        shutil.copy(kept, folder / "solver.debug")
        assert lines_of(program, notes, []) == lines
        (folder / "solver.debug").unlink()


def test_debug_information_that_packages_install(built, moved, tmp_path):
    (program, kept), (notes, lines) = moved, places_of(built)
    build_id = open_elf(program).build_id
    root = tmp_path / "debug"
    places = [root / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug", root / str(program.parent)[1:] / kept.name]
    for place in places:
        place.parent.mkdir(parents=True)
        shutil.copy(kept, place)
        assert lines_of(program, notes, [str(root)]) == lines
        place.unlink()
    assert not any(lines_of(program, notes, [str(root)]))


def test_debug_information_that_was_downloaded(built, moved, tmp_path, monkeypatch):
    (program, kept), (notes, lines) = moved, places_of(built)
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "cache"))
    place = tmp_path / "cache" / open_elf(program).build_id / "debuginfo"
    place.parent.mkdir(parents=True)
    shutil.copy(kept, place)
    assert lines_of(program, notes, []) == lines


def test_debug_information_of_another_file_is_not_taken(built, moved, tmp_path):
    program, _ = moved
    other = compile_program(tmp_path / "other", "gcc", "-O1", "-g")
    tool("objcopy", "--only-keep-debug", other, program.parent / "solver.debug")
    assert find_module(LoadedModule(str(program)), folders=[]).state == ModuleState.NO_DEBUG_INFO


def test_without_build_ids_the_checksum_decides(tmp_path):
    built = compile_program(tmp_path / "solver", "gcc", "-O0", "-g", "-Wl,--build-id=none")
    notes, lines = places_of(built)
    kept, program = tmp_path / "solver.debug", tmp_path / "stripped"
    tool("objcopy", "--only-keep-debug", built, kept)
    tool("objcopy", "--strip-all", f"--add-gnu-debuglink={kept}", built, program)
    assert lines_of(program, notes, []) == lines
    kept.write_bytes(kept.read_bytes() + b"\0")
    assert find_module(LoadedModule(str(program)), folders=[]).state == ModuleState.NO_DEBUG_INFO


def test_dwz(tmp_path):
    """Names and lines that several files share lie in a file of their own."""
    if not shutil.which("dwz"):
        pytest.skip("dwz is not there")
    programs = [compile_program(tmp_path / f"p{i}", "g++", "-O2", "-g", f"-DN={i}") for i in range(2)]
    notes, lines = places_of(programs[0])
    tool("dwz", "-m", tmp_path / "shared", "-M", tmp_path / "shared", *programs)
    assert open_elf(programs[0]).has(".gnu_debugaltlink")
    assert lines_of(programs[0], notes, []) == lines


def test_states(built, tmp_path):
    path, build_id = str(built), open_elf(built).build_id
    assert find_module(LoadedModule(path, build_id), folders=[]).state == ModuleState.GOOD
    assert find_module(LoadedModule(path), folders=[]).state == ModuleState.GOOD
    assert find_module(LoadedModule(path, "12" * 20), folders=[]).state == ModuleState.REPLACED
    assert find_module(LoadedModule(f"{path}.gone", build_id), folders=[]).state == ModuleState.MISSING
    assert find_module(LoadedModule("[vdso]"), folders=[]).state == ModuleState.MISSING


def test_newer_than_the_run(built):
    """Only where there is no build id to compare."""
    path, changed_ns = str(built), built.stat().st_mtime_ns
    assert find_module(LoadedModule(path), changed_ns - 2_000_000_000, []).state == ModuleState.NEWER
    assert find_module(LoadedModule(path), changed_ns, []).state == ModuleState.GOOD
    assert (
        find_module(LoadedModule(path, open_elf(built).build_id), changed_ns - 2_000_000_000, []).state
        == ModuleState.GOOD
    )


def test_the_stamp_changes_when_there_may_be_more_to_know(built, moved):
    program, kept = moved
    before = find_module(LoadedModule(str(program)), folders=[]).stamp
    assert find_module(LoadedModule(str(program)), folders=[]).stamp == before
    shutil.copy(kept, program.parent / "solver.debug")
    after = find_module(LoadedModule(str(program)), folders=[]).stamp
    os.utime(program.parent / "solver.debug", ns=(1, 1))
    assert len({before, after, find_module(LoadedModule(str(program)), folders=[]).stamp}) == 3


def test_a_replaced_file_names_nothing(built):
    notes, _ = places_of(built)
    state, frames = name_places(find_module(LoadedModule(str(built), "12" * 20)), addresses_of(notes))
    assert state == ModuleState.REPLACED and not any(frames)


@pytest.mark.parametrize("state", ModuleState)
def test_each_state_has_one_line(state):
    said = sentence(LoadedModule("/home/u/solver", "ab" * 20), state)
    assert "solver" in said and "\n" not in said and len(said) < 200
