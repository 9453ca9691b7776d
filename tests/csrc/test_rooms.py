"""The checks of `make lint` on who may use whom: they pass on what is here, and find planted violations."""

import shutil
import subprocess
import sys

import pytest
from paths import ROOT

from csrc import c_code, check_calls, check_contracts, check_rooms, rooms


@pytest.fixture
def planted(tmp_path):
    """A copy of the C sources to which a line may be added: planted(file, line) gives what is wrong then."""
    copy = tmp_path / "csrc"
    shutil.copytree(rooms.CSRC, copy, ignore=shutil.ignore_patterns("*.py", "__pycache__"))

    def plant(file, line, check=check_rooms):
        path = copy / file
        if not path.parent.exists():  # a new room
            path.parent.mkdir()
            path.touch()
        path.write_text(f"{line}\n{path.read_text()}")
        return list(check.wrong(copy))

    return plant


def test_what_is_here():
    assert list(check_rooms.wrong()) == []
    assert list(check_calls.wrong()) == []
    assert list(check_contracts.wrong()) == []


def test_another_rooms_internal_header(planted):
    found = planted("runtime/output/output.c", '#include "counters/internal/perf.h"')
    assert found == [
        "runtime/output/output.c: includes counters/internal/perf.h, which is internal to runtime/counters"
    ]


def test_a_room_above(planted):
    found = planted("kernels/rows/lane.c", '#include "operations/slots.h"')
    assert found == [
        "kernels/rows/lane.c: includes operations/slots.h, but kernels/operations stands above kernels/rows"
    ]


def test_a_room_of_the_runtime_above(planted):
    found = planted("runtime/counters/probe.c", '#include "ranks/closing_line.h"')
    assert found == [
        "runtime/counters/probe.c: includes ranks/closing_line.h, but runtime/ranks stands above runtime/counters"
    ]


def test_a_room_that_has_no_place(planted):
    found = planted("runtime/other/new.c", '#include "clock/clock.h"')
    assert found == ["runtime/other/new.c: runtime/other has no place in the order of rooms"]


def test_a_circle_of_headers(planted):
    found = planted("ngmpi/prtt.h", '#include "collective.h"') + planted("ngmpi/collective.h", '#include "prtt.h"')
    assert found == [
        "a circle: ngmpi/collective.h -> ngmpi/prtt.h -> ngmpi/collective.h",
        "a circle of units: ngmpi/collective -> ngmpi/prtt -> ngmpi/collective",
    ]


def test_a_circle_of_units(planted):
    """Two sources include each other's header: no header includes itself."""
    (found,) = planted("runtime/clock/clock.c", '#include "clock/start.h"')
    units = found.removeprefix("a circle of units: ").split(" -> ")
    assert units[0] == units[-1]  # from where it begins depends on who else includes them
    assert sorted(units[1:]) == ["runtime/clock/clock", "runtime/clock/start"]


def test_a_header_that_is_not_there(planted):
    assert planted("replay/engine/sim.c", '#include "sim.h"') == [
        "replay/engine/sim.c: includes sim.h, which is not there"
    ]


def test_a_call_of_a_room_above(planted):
    """The prototype is written down by hand: no include says so."""
    line = "void thread_flush(struct thread *t);\nvoid clock_flush(struct thread *t) { thread_flush(t); }"
    found = planted("runtime/clock/clock.c", line, check_calls)
    assert "runtime/clock/clock.c: calls thread_flush, but runtime/buffer stands above runtime/clock" in found


@pytest.mark.parametrize(
    "line",
    [
        "static void (*const hooks[])(struct thread *) = {thread_flush};",
        "#define FLUSHED(t) thread_flush(t)",
        "void hand(struct thread *t) { each(t, thread_flush); }",
        "struct hooks hooks = {.flush = &thread_flush};",
    ],
)
def test_a_reference_to_a_room_above(planted, line):
    found = planted("runtime/clock/clock.c", line, check_calls)
    assert "runtime/clock/clock.c: calls thread_flush, but runtime/buffer stands above runtime/clock" in found


def test_no_call_of_a_room_above(planted):
    """Members, tags, variables, texts and comments may have the name of a function."""
    line = """/* thread_flush(t) */ void f(struct thread_flush *o, int thread_flush) {
        o->thread_flush(o, "thread_flush(t)"); g(thread_flush); }"""
    assert planted("runtime/clock/clock.c", line, check_calls) == []


def test_a_circle_of_calls(planted):
    line = "void clock_begin(void) { clock_start(); }"
    assert planted("runtime/clock/clock.c", line, check_calls) == []
    (said,) = planted("runtime/clock/start.c", "void clock_start(void) { clock_begin(); }", check_calls)
    units = said.removeprefix("a circle of calls: ").split(" -> ")
    assert sorted(units[1:]) == ["runtime/clock/clock", "runtime/clock/start"]


def test_a_declaration_in_another_room(planted):
    assert planted("runtime/output/job.h", "uint64_t clock_new(void);", check_calls) == []  # nobody defines it
    (said,) = planted("runtime/clock/clock.c", "uint64_t clock_new(void) { return 0; }", check_calls)
    assert said == "runtime/output/job.h: declares clock_new, which runtime/clock/clock.c defines"


def test_a_static_name_of_another_file(planted):
    found = planted("replay/engine/sim.c", "static void store_begin(void) {}", check_calls)
    assert found == ["replay/engine/sim.c: static store_begin is also in runtime/record/store.c"]


def test_a_static_name_of_libc(planted):
    found = planted("replay/engine/sim.c", "static int open(void) { return 0; }", check_calls)
    assert found == ["replay/engine/sim.c: static open is a function of libc, too"]


@pytest.mark.parametrize(
    "line,said",
    [
        ("void f(void);", "clock/start.h: f has no comment"),
        ("/* Do it. */\n\nvoid f(void);", "clock/start.h: f has no comment"),
        ("/* Do it. */\nvoid f(void);", "clock/start.h: f does not say who may call it (Context: ...)"),
        ("/* Do it.\n * Context: any thread. */\nvoid f(void);", None),
        ("/* Do them.\n * Context: any thread. */\nvoid f(void);\nstatic inline void g(void) { f(); }", None),
    ],
)
def test_a_function_without_a_contract(planted, line, said):
    found = planted("runtime/clock/start.h", "/* A header. */\n\n" + line + "\n", check_contracts)
    mine = [one for one in found if one.split()[1] in ("f", "g")]
    assert mine == ([f"runtime/{said}"] if said else [])


def test_functions_of_a_file():
    text = """
    #define MACRO(x) { x; }
    static const int table[] = {1, 2};
    struct s { int (*pointer)(int); };
    __attribute__((format(printf, 1, 2))) static void say_it(const char *form, ...);
    int *both(int a) { if (a) { return used(a); } /* not(a) */ return 0; }
    static inline bool last(void) { return "text(" == 0; }
    """
    found = list(c_code.functions(text))
    assert [f.name for f in found] == ["say_it", "both", "last"]
    assert [bool(f.body) for f in found] == [False, True, True]
    assert [f.is_static for f in found] == [True, False, True]


LINTED = """
import sys
from importlinter.cli import lint_imports
sys.exit(lint_imports(config_filename={config!r}, no_cache=True))
"""


@pytest.fixture
def linted(tmp_path):
    """linted(file, line): what import-linter says of a copy of the analyzer with that line, and its exit code."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "analyzer", tmp_path / "analyzer", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)

    def lint(file=None, line=""):
        if file:
            path = tmp_path / "analyzer" / file
            path.write_text(f"{path.read_text()}\n{line}\n")
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})" + LINTED.format(config="pyproject.toml")
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout

    return lint


def test_layers_of_the_analyzer(linted):
    assert linted()[0] == 0
    code, said = linted("trace/chosen.py", "from analyzer.metrics import useful")
    assert code == 1 and "analyzer.trace is not allowed to import analyzer.metrics" in said


def test_a_circle_in_a_package(linted):
    code, said = linted("waits/kinds.py", "from analyzer.waits import analysis")
    assert code == 1 and "No cycles are allowed in analyzer.waits" in said
