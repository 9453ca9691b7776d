"""Parts of the runtime compiled alone, so that they can be called from a test."""

import ctypes
import subprocess
from pathlib import Path

from csrc import build_runtime
from tracelib import variables

RUNTIME = Path(__file__).resolve().parent.parent / "csrc" / "runtime"


def library(folder: Path, *sources: str, code: str = "") -> ctypes.CDLL:
    """A shared library in `folder` of some sources of the runtime, and of `code` of the test's own."""
    (folder / "variables.h").write_text(build_runtime.variables_header(variables))
    (folder / "own.c").write_text(code)
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{RUNTIME}", f"-I{folder}"]
    inputs = [folder / "own.c", *(RUNTIME / name for name in sources)]
    subprocess.run(["cc", *flags, "-o", folder / "own.so", *inputs], check=True)
    return ctypes.CDLL(str(folder / "own.so"))
