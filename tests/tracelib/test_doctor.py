"""Conclusions of doctor: from a program's file, from the lines of a traced run, from the machine."""

import subprocess
from pathlib import Path

import pytest

from tracelib import doctor
from tracelib.doctor import (
    DebugMessages,
    RecordedContent,
    check_output,
    check_program,
    check_spool,
    check_tools,
    check_variables,
    judge,
)
from tracelib.elf import ElfFile, find_program, inspect

STDERR = """tracelib: debug: loaded into process 10
a line of the program
tracelib: debug: loaded into process 11
tracelib: debug: MPI is Open MPI
tracelib: debug: MPI is Open MPI
tracelib: debug: rank 0 of 2 records into /tmp/run.ranks/000000.h5
[1,1]<stderr>: tracelib: debug: rank 1 of 2 records into /tmp/run.ranks/000001.h5
"""


def test_lines_of_a_run():
    assert DebugMessages.read(STDERR) == DebugMessages(loaded=2, mpi="Open MPI", recording=2)
    assert DebugMessages.read("nothing of ours") == DebugMessages()


@pytest.mark.parametrize(
    "debug,recorded,verdict,text",
    [
        (
            DebugMessages(2, "Open MPI", 2),
            RecordedContent(2, 100),
            "ok",
            "100 calls of 2 ranks were recorded under Open MPI",
        ),
        (DebugMessages(), RecordedContent(), "problem", "loaded into no process"),
        (DebugMessages(2), RecordedContent(), "problem", "none of them called MPI"),
        (DebugMessages(2, "MPICH"), RecordedContent(), "problem", "no rank returned from MPI_Init"),
        (DebugMessages(2, "MPICH", 2), RecordedContent(2), "problem", "no call is in their files"),
        (
            DebugMessages(1, "", 1),
            RecordedContent(1, 0, 3),
            "ok",
            "3 events of the program's own were recorded, and no call of MPI",
        ),
    ],
)
def test_how_far_the_library_came(debug, recorded, verdict, text):
    (finding,) = judge(debug, recorded, None)
    assert finding.verdict == verdict
    assert text in finding.text
    assert finding.hint or verdict == "ok" or debug.recording


TOOLS = """tracelib: debug: loaded into process 10
tracelib: debug: tool ahead: /opt/first.so
tracelib: debug: tool behind: ./last.so
tracelib: debug: tool ahead: /opt/first.so
tracelib: debug: /opt/plugin.so was opened with RTLD_DEEPBIND and calls another MPI: that is not recorded
tracelib: debug: MPI was initialized past this library
"""


def test_other_tools():
    """Each is named once; a tool ahead is a problem where the library saw nothing."""
    debug = DebugMessages.read(TOOLS)
    assert (debug.ahead, debug.behind, debug.bypassed) == (("/opt/first.so",), ("./last.so",), 1)
    ahead, behind, deep = check_tools(debug, RecordedContent())
    assert [f.verdict for f in (ahead, behind, deep)] == ["problem", "ok", "problem"]
    assert "/opt/first.so" in ahead.text and "LD_PRELOAD=libtrace.so:TOOL.so" in ahead.hint
    assert "./last.so" in behind.text and "/opt/plugin.so" in deep.text
    assert check_tools(debug, RecordedContent(2, 100))[0].verdict == "ok"
    (finding,) = judge(debug, RecordedContent(), program(libraries=()))
    assert (finding.verdict, finding.hint) == ("problem", ahead.hint)
    assert "in 1 process with" in finding.text
    (own, run) = (
        check_tools(DebugMessages(1, ahead=("",)), RecordedContent()),
        judge(DebugMessages(1, ahead=("",), bypassed=1), RecordedContent(), None),
    )
    assert "the program defines MPI_Init" in own[0].text and own[0].hint == run[0].hint


def program(**changes) -> ElfFile:
    """An ordinary MPI program, with changes."""
    usual = {"readable": True, "dynamic": True, "privileged": False, "libraries": ("/lib/libmpi.so.40",)}
    return ElfFile(**{"path": Path("/app"), "defines": (), "mentions": True} | usual | changes)


@pytest.mark.parametrize(
    "changes,events,verdict,hint",
    [
        ({"libraries": (), "mentions": False}, 3, "ok", ""),
        ({"libraries": ()}, 3, "note", "dlsym"),
        ({}, 3, "note", "MPI_Init at all"),
        ({"libraries": (), "mentions": False}, 0, "problem", "names its regions"),
        ({"libraries": ()}, 0, "problem", "dlsym"),
    ],
)
def test_a_run_without_a_call(changes, events, verdict, hint):
    """A program without MPI is well if its regions are there; one that names an MPI should have called it."""
    (finding,) = judge(DebugMessages(1), RecordedContent(min(events, 1), 0, events), program(**changes))
    assert finding.verdict == verdict
    assert hint in finding.hint and bool(hint) == bool(finding.hint)


@pytest.mark.parametrize(
    "changes,verdict,text",
    [
        ({}, "ok", "uses /lib/libmpi.so.40"),
        ({"privileged": True}, "problem", "set-user-ID"),
        ({"dynamic": False}, "problem", "linked statically"),
        ({"libraries": (), "defines": ("MPI_Init",)}, "problem", "contains MPI itself"),
        ({"defines": ("MPI_Init",)}, "problem", "defines MPI_Init itself"),
        ({"libraries": ()}, "note", "loads MPI while it runs"),
        ({"libraries": (), "mentions": False}, "note", "not an MPI program"),
        ({"readable": False}, "note", "script"),
    ],
)
def test_kinds_of_programs(changes, verdict, text):
    finding = check_program(program(**changes), ["mpirun", "/app"])[-1]
    assert (finding.verdict, text in finding.text) == (verdict, True)
    assert finding.hint or verdict != "problem"


def compiled(folder: Path, text: str, *flags: str) -> Path:
    """A C program."""
    (folder / "a.c").write_text(text)
    subprocess.run(["cc", "a.c", "-o", "a.out", *flags], cwd=folder, check=True)
    return folder / "a.out"


def test_files_of_programs(tmp_path):
    plain = inspect(compiled(tmp_path, "int main(void) { return 0; }"))
    assert (plain.readable, plain.dynamic, plain.privileged, plain.libraries, plain.defines) == (
        True,
        True,
        False,
        (),
        (),
    )
    assert not plain.mentions
    assert not inspect(compiled(tmp_path, "int main(void) { return 0; }", "-static")).dynamic
    own = inspect(
        compiled(tmp_path, "int MPI_Init(int *c, char ***v) { return !c || !v; } int main(void) { return 0; }")
    )
    assert own.defines == ("MPI_Init",)
    opens = '#include <dlfcn.h>\nint main(void) { return dlopen("libmpi.so", 1) != 0; }'
    assert inspect(compiled(tmp_path, opens, "-ldl")).mentions
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    assert not inspect(script).readable


def test_an_mpi_library_by_its_name(tmp_path):
    for name, is_mpi in (("libmpich.so.12", True), ("libmpi_abi.so.1", True), ("libmpifoo.so.1", False)):
        subprocess.run(
            ["cc", "-shared", f"-Wl,-soname,{name}", "-o", name, "-x", "c", "/dev/null"], cwd=tmp_path, check=True
        )
        flags = ("-Wl,--no-as-needed", f"./{name}", f"-Wl,-rpath,{tmp_path}")
        found = inspect(compiled(tmp_path, "int main(void) { return 0; }", *flags)).libraries
        assert found == ((str(tmp_path / name),) if is_mpi else ())


def test_the_program_among_the_words_of_a_command(tmp_path, monkeypatch):
    app = tmp_path / "app"
    app.write_text("#!/bin/sh\n")
    app.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert find_program(["mpirun", "-n", "4", "--map-by", "core", "./app", "ls"]) == app
    assert find_program(["./app"]) == app
    assert find_program(["mpirun", "-n", "4", "./nowhere"]) is None


def test_room_and_rights(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACELIB_SPOOL", str(tmp_path))
    assert check_spool().verdict == "ok"
    monkeypatch.setenv("TRACELIB_SPOOL", str(tmp_path / "nowhere"))
    assert check_spool().verdict == "problem"
    monkeypatch.setenv("TRACELIB_OUTPUT", str(tmp_path / "a.h5"))
    assert check_output().verdict == "ok"
    monkeypatch.setenv("TRACELIB_OUTPUT", str(tmp_path / "nowhere" / "a.h5"))
    assert check_output().verdict == "problem"


def test_little_room(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACELIB_SPOOL", str(tmp_path))
    monkeypatch.setattr(doctor, "_free_mb", lambda path: 3)
    assert check_spool().verdict == "note"
    assert "3 MB free" in check_spool().text


def test_settings():
    found = check_variables(
        {"TRACELIB_DISABLE": "1", "TRACELIB_BUFFER": "64K", "LD_PRELOAD": "libx.so", "HOME": "/root"}
    )
    assert [(f.verdict, f.text.split("=")[0]) for f in found] == [
        ("note", "LD_PRELOAD"),
        ("note", "TRACELIB_BUFFER"),
        ("problem", "TRACELIB_DISABLE"),
    ]
    assert [f.verdict for f in check_variables({"TRACELIB_DISABLE": "0"})] == ["note"]
