"""tracelib.h compiles everywhere, links against nothing, and finds the library exactly where it is loaded."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tracelib.launchers import INCLUDE, LIBRARY

PROGRAM = """
#include <tracelib.h>
int found(void);
int main(void)
{
    tracelib_region_begin("solve");
    tracelib_region_parameter("n", 500.0);
    tracelib_region_parameter_integer("m", 500);
    tracelib_region_parallel(4);
    tracelib_event(1000, -1);
    tracelib_label_type(1000, "Step");
    tracelib_label_value(1000, -1, "last");
    tracelib_pause();
    tracelib_resume();
    tracelib_region_end(0);
    return found();
}
"""
OTHER = """
#include <tracelib.h>
int found(void);
int found(void) { return tracelib_library() != 0; }
"""
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
NO_PIE = ("-fno-pie", "-no-pie")


def build(folder: Path, *flags: str, compiler: str = "cc", suffix: str = ".c") -> Path:
    """Two files that include the header, as one program."""
    paths = [folder / f"{name}{suffix}" for name in ("program", "other")]
    for path, text in zip(paths, (PROGRAM, OTHER), strict=True):
        path.write_text(text)
    command = [compiler, "-I", str(INCLUDE), *flags, *map(str, paths), "-o", str(folder / "program")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "program"


def finds(program: Path, **environment: str) -> bool:
    """Whether the program sees the library. It is switched off, so that it records nothing here."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LD_PRELOAD", "TRACELIB_"))}
    environment = clean | {"TRACELIB_DISABLE": "1"} | environment
    done = subprocess.run([program], env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.returncode in (0, 1)
    return done.returncode == 1


@pytest.mark.parametrize(
    "flags",
    [("-O0",), ("-O2",), ("-O2", *NO_PIE), ("-O0", *NO_PIE, "-Wl,-z,now"), ("-Wl,-z,lazy",), ("-Wl,-z,now",)],
    ids=" ".join,
)
def test_found_where_it_is_loaded_and_only_there(tmp_path, flags):
    program = build(tmp_path, *flags)
    assert finds(program, LD_PRELOAD=str(LIBRARY))
    assert not finds(program)


def test_static_programs_run_untraced(tmp_path):
    program = build(tmp_path, "-static")
    assert not finds(program, LD_PRELOAD=str(LIBRARY))


def test_in_a_shared_object(tmp_path):
    (tmp_path / "other.c").write_text(OTHER)
    (tmp_path / "program.c").write_text("int found(void); int main(void) { return found(); }")
    command = ["cc", "-shared", "-fPIC", "-I", str(INCLUDE), "other.c", "-o", "libother.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    link = ["cc", "program.c", "-o", "program", "-L.", "-lother", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(link, cwd=tmp_path, check=True)
    assert finds(tmp_path / "program", LD_PRELOAD=str(LIBRARY))
    assert not finds(tmp_path / "program")


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_no_warning_in_c(tmp_path, standard):
    assert finds(build(tmp_path, f"-std={standard}", *STRICT), LD_PRELOAD=str(LIBRARY))


@pytest.mark.parametrize("standard", ["c++11", "gnu++17", "c++20"])
def test_no_warning_in_cpp(tmp_path, standard):
    if not shutil.which("c++"):
        pytest.skip("no C++ compiler")
    program = build(tmp_path, f"-std={standard}", *STRICT, compiler="c++", suffix=".cpp")
    assert finds(program, LD_PRELOAD=str(LIBRARY))
