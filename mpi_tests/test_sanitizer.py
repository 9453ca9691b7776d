"""The runtime under AddressSanitizer and UndefinedBehaviorSanitizer, in programs that were not built for either."""

import subprocess
import sys
from pathlib import Path

import pytest

from csrc.build_runtime import build


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory) -> str:
    """LD_PRELOAD of the sanitizer's runtimes and of a libtrace.so built with them."""
    runtimes = []
    for name in ("libasan.so", "libubsan.so"):
        done = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        if not Path(done.stdout.strip()).is_absolute():
            pytest.skip(f"gcc has no {name}")
        runtimes.append(str(Path(done.stdout.strip()).resolve()))
    folder = tmp_path_factory.mktemp("sanitized")
    library = folder / "libtrace.so"
    build(library, folder / "generated", ["-g", "-O1", "-fsanitize=address,undefined", "-fno-omit-frame-pointer"])
    return ":".join([*runtimes, str(library)])


@pytest.mark.parametrize("program", ["blocking", "nonblocking", "collectives", "communicators"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_no_finding(request, compiled, launch, sanitized, debian, program):
    leg = request.getfixturevalue(debian)
    env = {
        "LD_PRELOAD": sanitized,
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TRACELIB_BUFFER": "16K",
        "TRACELIB_SYSTEM": "1s",
        "TRACELIB_PYTHON": sys.executable,
    }
    finished = launch(leg, compiled(leg, f"{program}.c"), preload=False, env=env, limit_s=120).check()
    assert "AddressSanitizer" not in finished.stderr
    assert "runtime error" not in finished.stderr
    assert "tracelib:" in finished.stderr
