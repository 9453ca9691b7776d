"""Names of places, against what programs note of themselves, and against addr2line."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from whereabouts import THERE, addresses_of, by_addr2line, compile_program, noted, tool

from analyzer.places import naming
from analyzer.places.modules import LoadedModule, ModuleState, find_module
from analyzer.places.naming import name_places
from analyzer.places.readable_names import without_arguments

FLAGS = [
    ("-O0", "-g"),
    ("-O0", "-g1", "-no-pie", "-fno-pie"),
    ("-O2", "-g"),
    ("-O2", "-g1"),
    ("-O3", "-g3", "-no-pie", "-fno-pie"),
    ("-O1", "-g", "-gdwarf-4", "-gz"),
    ("-O2", "-gdwarf-2"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """program(compiler, *flags): compiled once."""
    folder, done = tmp_path_factory.mktemp("whereabouts"), {}

    def build(compiler, *flags):
        key = (compiler, *flags)
        if key not in done:
            done[key] = compile_program(folder / f"p{len(done)}", compiler, *flags)
        return done[key]

    return build


def names_of(program, notes, state=ModuleState.GOOD, folders=()):
    found, frames = name_places(find_module(LoadedModule(str(program)), folders=folders), addresses_of(notes))
    assert found == state
    return frames


def is_called(function, truth):
    """Programs say the bare name; what C++ calls a lambda, it does not say."""
    said = without_arguments(function)
    is_lambda = truth == "operator()" and ("{lambda" in said or "$_" in said)
    return truth in (said, said.split("::")[-1]) or is_lambda or {said, truth} == {"demo", "program"}


def symbol_of(note):
    """In whereabouts.c without optimization."""
    return "outer" if note.function == "middle" else note.function


def check(frames, notes):
    for innermost, note in zip((named[0] for named in frames), notes, strict=True):
        assert innermost.line == note.line, (innermost, note)
        assert innermost.file.endswith(("whereabouts.c", "whereabouts.cc", "whereabouts.f90"))
        assert is_called(innermost.function, note.function)


@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
@pytest.mark.parametrize("compiler", THERE)
def test_programs_that_know_where_they_are(program, compiler, flags):
    path = program(compiler, *flags)
    notes = noted(path)
    assert len(notes) >= 8
    if compiler.startswith("clang") and not naming.tool() and "-g1" in flags:
        pytest.skip("clang's -g1 leaves functions out, and there is no tool that reads their lines")
    check(names_of(path, notes), notes)


@pytest.mark.parametrize("compiler", [name for name in THERE if "clang" not in name])
@pytest.mark.parametrize("flags", [("-O0", "-g"), ("-O2", "-g")], ids=" ".join)
def test_frames_as_addr2line_has_them(program, compiler, flags):
    """Lines of all frames; of clang's, addr2line leaves out some that are inlined."""
    path = program(compiler, *flags)
    notes = noted(path)
    found = [[(f.file.rpartition("/")[2], f.line) for f in named] for named in names_of(path, notes)]
    assert found == by_addr2line(path, notes)
    assert max(len(named) for named in found) > 1 or "-O0" in flags


@pytest.mark.parametrize("compiler", THERE)
def test_tools_alone_know_the_lines(program, compiler, monkeypatch):
    """Without symbolic, as on machines that there is none for."""
    if not naming.tool():
        pytest.skip("neither llvm-symbolizer nor addr2line is there")
    monkeypatch.setattr(naming, "can_read", lambda: False)
    path = program(compiler, "-O2", "-g")
    notes = noted(path)
    assert [named[0].line for named in names_of(path, notes)] == [note.line for note in notes]


@pytest.mark.parametrize("command", ["llvm-symbolizer", "addr2line"])
def test_each_tool_is_understood(program, monkeypatch, command):
    if not shutil.which(command):
        pytest.skip(f"{command} is not there")
    options = next(options for name, *options in naming._TOOLS if name == command)
    monkeypatch.setattr(naming, "tool", lambda: (command, *options))
    path = program("gcc", "-O2", "-g")
    notes = noted(path)
    found = naming.frames_by_tool(path, [note.address - 1 for note in notes])
    assert [[(f.file.rpartition("/")[2], f.line) for f in named] for named in found] == by_addr2line(path, notes)
    assert naming.frames_by_tool(path, [1]) == [()]


def test_without_any_reader_there_are_functions(program, monkeypatch):
    monkeypatch.setattr(naming, "can_read", lambda: False)
    monkeypatch.setattr(naming, "tool", lambda: None)
    monkeypatch.setattr(naming, "tool", lambda: None)
    path = program("gcc", "-O0", "-g")
    notes = noted(path)
    frames = names_of(path, notes, ModuleState.UNREAD)
    assert [[f.function for f in named] for named in frames] == [[symbol_of(note)] for note in notes]
    assert not any(f.line for named in frames for f in named)


def test_symbols_say_the_function_and_the_distance(program):
    """Against the addresses of nm."""
    path = program("gcc", "-O0")
    notes = noted(path)
    frames = names_of(path, notes, ModuleState.NO_DEBUG_INFO)
    symbols = [line.split() for line in tool("nm", "--defined-only", path).splitlines()]
    begins = {name: int(at, 16) for at, _, name in symbols}
    for named, note in zip(frames, notes, strict=True):
        assert [(f.function, f.past) for f in named] == [(symbol_of(note), note.address - begins[symbol_of(note)])]


def test_split_debug_information_is_read_by_llvm_symbolizer_only(program, tmp_path, monkeypatch):
    path = compile_program(tmp_path / "split", "gcc", "-O0", "-g", "-gsplit-dwarf")
    notes = noted(path)
    monkeypatch.setattr(naming, "tool", lambda: None)
    frames = names_of(path, notes, ModuleState.UNREAD)
    assert [[f.function for f in named] for named in frames] == [[symbol_of(note)] for note in notes]


def test_what_has_no_name_is_named_by_what_it_is_inlined_into():
    frames = (naming.Frame("", "a.c", 3), naming.Frame("_Z5outeri", "a.c", 9))
    assert [f.function for f in naming._readable(frames)] == ["outer(int)", "outer(int)"]


def test_a_file_that_is_gone_between_two_looks_has_no_frames(tmp_path, program):
    found = find_module(LoadedModule(str(program("gcc", "-O0", "-g"))))
    gone = replace(found, debug_file=tmp_path / "gone")
    state, frames = name_places(gone, np.array([0x10], np.uint64))
    assert (state, frames) == (ModuleState.GOOD, [()])
