"""Parts of the runtime compiled alone, so that they can be called from a test."""

import ctypes
import subprocess
from collections.abc import Iterable
from pathlib import Path

from paths import ROOT

from csrc import build_runtime
from tracelib import variables

RUNTIME = ROOT / "csrc" / "runtime"


def library(folder: Path, *sources: str, code: str = "", includes: Iterable[Path] = ()) -> ctypes.CDLL:
    """A shared library in `folder` of some sources of the runtime, and of `code` of the test's own."""
    (folder / "variables.h").write_text(build_runtime.variables_header(variables))
    (folder / "own.c").write_text(code)
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    flags += [f"-I{path}" for path in (RUNTIME, folder, *includes)]
    inputs = [folder / "own.c", *(RUNTIME / name for name in sources)]
    subprocess.run(["cc", *flags, "-o", folder / "own.so", *inputs], check=True)
    return ctypes.CDLL(str(folder / "own.so"))
