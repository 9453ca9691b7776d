"""Sources with pragmas, translated: what is passed through, what compilers say, what is refused."""

import subprocess

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import patient

from tracelib import commands
from tracelib.call.translate import translate
from tracelib.errors import TracelibError
from tracelib.launchers import INCLUDE

PROGRAM = r"""#define _GNU_SOURCE
#include <stdio.h>
#include <sched.h>
/* In comments there are none:
#pragma cll nothing CLOCK=nothing[0]
*/
struct grid { int n; double h; unsigned char small; } grid = {5, 0.25, 7};

static int work(int n) // #pragma cll nothing CLOCK=nothing[0]
{
    const char *text = "\
#pragma cll nothing CLOCK=nothing[0] {{{";
    int total = 0, *p = &n;
    float x = 1.5f;
    long long large = 1LL << 60;
    _Bool yes = 1;
#pragma cll outer CLOCK=outer[0]*n*grid.h \
                  *x*large*grid.small  /* and
    over lines */ *(*p)*yes
    for (int i = 0; i < n; i++) {
        #pragma cll inner CLOCK=inner[0]*i
        total += i + (text[0] == '{') + (sched_getcpu() < -5);
        #pragma cll end inner
    }
#pragma cll end outer
#pragma omp parallel
#pragma report strange
    return total;
}

int main(void)
{
    printf("%d at line %d of %s\n", work(grid.n), __LINE__, __FILE__);
#pragma cll report outer
    return 0;
}
"""


def build(folder, name, *flags):
    compiler = "c++" if name.endswith("cpp") else "gcc"
    command = [
        compiler,
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unknown-pragmas",
        *flags,
        name,
        "-o",
        name + ".out",
    ]
    subprocess.run(command, cwd=folder, check=True, timeout=patient(120))
    return subprocess.run(
        [f"./{name}.out"], cwd=folder, capture_output=True, text=True, check=True, timeout=patient(60)
    ).stdout


def test_a_translated_program_prints_the_same(tmp_path, monkeypatch):
    """Line numbers and file names of the source included; nothing is recorded where the library is not loaded."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.c").write_text(PROGRAM)
    ran = CliRunner().invoke(commands.commands, ["call", "app.c"])
    assert ran.output == "app.cll.c: experiments outer, inner\n"
    plain = build(tmp_path, "app.c", "-Wno-unused-variable")
    assert plain == build(tmp_path, "app.cll.c", "-I", str(INCLUDE)) == "10 at line 33 of app.c\n"


def test_cxx(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PROGRAM.replace("_Bool", "bool").replace("text[0] ==", 'R"(#pragma cll {)"[text[0] == 0] ==')
    (tmp_path / "app.cpp").write_text(text.replace("#define _GNU_SOURCE", "#include <vector>"))
    assert CliRunner().invoke(commands.commands, ["call", "app.cpp", "-o", "other.cpp", "-q"]).output == ""
    assert build(tmp_path, "other.cpp", "-I", str(INCLUDE)) == build(tmp_path, "app.cpp", "-Wno-unused-variable")


CXX = r"""#include <cstdio>
int sum(long a, int b) { return (int)a + b; }
int main()
{
    const char *text = (const char *)u8R"({" #)";
    unsigned long long most = 0xffff'ffff'ffff'ffffull;
    int n = sum(1'000, '}') + sum(2'0'0, '}');
#pragma cll e CLOCK=e[0]*n*most
    n += text[0] == '{';
#pragma cll end e
    std::printf("%d %d\n", n, sum(3'000, '{'));
}
int other(int m)
{
#pragma cll f CLOCK=f[0]*m
    m += sum(4'000, '{');
#pragma cll end f
    return m;
}
"""


def test_quotes_between_digits_begin_no_characters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.cpp").write_text(CXX)
    assert CliRunner().invoke(commands.commands, ["call", "app.cpp"]).output == "app.cll.cpp: experiments e, f\n"
    plain = build(tmp_path, "app.cpp", "-Wno-unused-variable")
    assert plain == build(tmp_path, "app.cll.cpp", "-I", str(INCLUDE)) == "1451 3123\n"


def test_what_is_recorded_of_numbers_of_all_types(tmp_path, monkeypatch):
    """Integers as integers, if long long has them; everything else as real numbers."""
    monkeypatch.chdir(tmp_path)
    types = {
        "int a = -3": -3, "unsigned char b = 200": 200, "_Bool c = 1": 1, "long long d = 1LL << 62": 2**62,
        "unsigned long long e = 1ULL << 62": 2**62, "unsigned long long f = ~0ULL": "1.84467e+19",
        "float g = 0.5f": "0.5", "double h = -1e300": "-1e+300", "long double i = 2": "2.0", "enum {X, Y = 7} j = Y": 7,
    }  # fmt: skip
    names = "abcdefghij"
    product = "*".join(names)
    (tmp_path / "a.c").write_text(BODY % f"{'; '.join(types)};\n#pragma cll x CLOCK={product}\n;\n#pragma cll end x")
    assert CliRunner().invoke(commands.commands, ["call", "a.c"]).exit_code == 0
    recording = """#include <stdio.h>
    #define tracelib_region_begin(name)
    #define tracelib_region_end(name)
    #define tracelib_region_parameter_integer(name, value) printf("%s %lld\\n", name, value)
    #define tracelib_region_parameter(name, value) printf("%s %#.6g\\n", name, value)
    """
    header = tmp_path / "a.cll.h"
    header.write_text(recording + header.read_text().replace("#include <tracelib.h>", ""))
    said = dict(line.split() for line in build(tmp_path, "a.cll.c").splitlines())
    for name, value in zip(names, types.values(), strict=True):
        assert said[name] == str(value) if isinstance(value, int) else float(said[name]) == float(value), name
        assert ("." in said[name]) == isinstance(value, str), name


def test_messages_of_the_compiler_name_the_source(tmp_path, monkeypatch):
    """A pragma of a variable that there is not is an error in the pragma's line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.c").write_text(PROGRAM.replace("inner[0]*i", "inner[0]*absent"))
    assert CliRunner().invoke(commands.commands, ["call", "app.c"]).exit_code == 0
    done = subprocess.run(["gcc", "-I", str(INCLUDE), "-c", "app.cll.c"], capture_output=True, text=True)
    assert done.returncode and "app.c:21:" in done.stderr and "absent" in done.stderr


BODY = "int main(void)\n{\n%s\n    return 0;\n}\n"
REFUSED = {
    "    #pragma cll end e": ("a.c:3:21: no experiment e begins in this file"),
    "  #pragma cll e CLOCK=e[0]": ("a.c:3:15: e has no #pragma cll end e"),
    "#pragma cll e TIME=e[0]": ("a.c:3:15: no driver observes TIME: CLOCK, PAPI_*"),
    "#pragma cll e PAPI_L2_TCM=e[0]": ("a.c:3:15: PAPI_L2_TCM needs #pragma cll uses PAPI"),
    "#pragma cll uses Papi": ("a.c:3:18: there is no driver Papi: CLOCK, PAPI"),
    "#pragma cll parallel PVM": ("a.c:3:22: there is no communication driver PVM: SEQ, MPI, OpenMP, PUB_BSP"),
    "#pragma cll e CLOCK=n*\n;\n#pragma cll end e": ("a.c:3:23: expected a variable"),
    "#pragma cll e CLOCK=n \\\n  *3 m\n;\n#pragma cll end e": ("a.c:4:6: expected the end of the line, not m"),
    "if (1)\n#pragma cll e CLOCK=e[0]\n;\n#pragma cll end e": ("a.c:4:1: no statement can stand here"),
    "if (0) ; else\n#pragma cll e CLOCK=e[0]\n;\n#pragma cll end e": ("a.c:4:1: no statement can stand here"),
    "#pragma cll uses PAPI\n;\n#pragma cll e CLOCK=e[0]\n;\n#pragma cll e PAPI_L1_DCM=e[0]\n;\n#pragma cll end e": (
        "a.c:7:13: e has another observable already"
    ),
    "}\n#pragma cll e CLOCK=e[0]\n#pragma cll end e\nvoid f(void) {": (
        "a.c:4:13: an experiment begins and ends inside"
    ),
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused_and_where(body, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text(BODY % body)
    with pytest.raises(TracelibError) as raised:
        commands.commands.main(["call", "a.c"], standalone_mode=False)
    assert REFUSED[body] in raised.value.line and "\n" not in raised.value.line
    assert [path.name for path in tmp_path.iterdir()] == ["a.c"]


def test_what_the_run_needs_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = "#pragma cll uses PAPI\n;\n#pragma cll e PAPI_L2_TCM=e[0]\n;\n#pragma cll end e"
    (tmp_path / "a.c").write_text(BODY % body)
    ran = CliRunner().invoke(commands.commands, ["call", "a.c"])
    assert ran.output == "a.cll.c: experiments e\nrun it with TRACELIB_COUNTERS=PAPI_L2_TCM\n"


def test_files_that_are_no_translations_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text(BODY % ";")
    (tmp_path / "a.cll.h").write_text("mine")
    for words in (["a.c"], ["a.c", "-o", "a.c"], ["a.c", "-o", "b.txt"], ["b.c"], ["a.cll.h"]):
        with pytest.raises(TracelibError):
            commands.commands.main(["call", *words], standalone_mode=False)
    assert (tmp_path / "a.cll.h").read_text() == "mine" and not (tmp_path / "a.cll.c").exists()
    for _ in range(2):
        assert CliRunner().invoke(commands.commands, ["call", "a.c", "-f"]).exit_code == 0
    assert CliRunner().invoke(commands.commands, ["call", "a.c"]).exit_code == 0


PIECES = ["int a; ", "\n", "{", "}", "/* x\n#pragma cll e CLOCK=e[0]\n*/", '"#pragma {"', "// {\n", "#if 1\n",
"#endif\n", "'\"'", "\r\n", "é", "#pragma omp for\n", "#include <x>\n", "\\\n"]  # fmt: skip


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_what_has_no_pragmas_is_passed_through(pieces):
    text = "".join(pieces)
    done = translate(text, "a.c", "a.cll.h")
    lines = done.source.split("\n")
    assert lines[1] == '#line 1 "a.c"' and lines[2] == '#include "a.cll.h"' and lines[3] == '#line 1 "a.c"'
    assert "\n".join(lines[4:]) == text and not done.experiments
