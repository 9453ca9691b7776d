"""The analyzer's C under AddressSanitizer and UBSan, in a Python of its own."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import cffi
from paths import ROOT
from patience import patient

TESTS = ROOT / "tests"
FLAGS = ("-shared", "-fPIC", "-g", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

AS_MODULE = """
import importlib.util, sys
name, library = sys.argv[1:3]
spec = importlib.util.spec_from_file_location(name, library)
sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])
"""


def build(ffi: cffi.FFI, library: Path, sources: Iterable[Path], includes: Iterable[Path]) -> None:
    """The module of a builder with sanitizers."""
    module = library.with_suffix(".c")
    ffi.emit_c_code(str(module))
    paths = [word for path in (*includes, sysconfig.get_paths()["include"]) for word in ("-I", str(path))]
    command = ["gcc", "-std=gnu11", *FLAGS, *paths, str(module), *map(str, sources), "-lm", "-o", str(library)]
    subprocess.run(command, check=True)


def run(name: str, library: Path, program: str, *words: str) -> str:
    """Run a program that finds the library as the module of this name, and further words in sys.argv[3:]; return its
    output."""
    shared = [
        subprocess.run(["gcc", f"-print-file-name={file}"], check=True, capture_output=True, text=True).stdout.strip()
        for file in ("libasan.so", "libstdc++.so")  # the second for whoever throws
    ]
    environment = os.environ | {
        "LD_PRELOAD": " ".join(shared),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # Python itself leaves memory behind
        "PYTHONPATH": ":".join(map(str, (ROOT, TESTS, TESTS / "support", TESTS / "support" / "reference"))),
    }
    command = [sys.executable, "-c", AS_MODULE + program, name, str(library), *words]
    found = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=patient(300))
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-4000:]
    return found.stdout
