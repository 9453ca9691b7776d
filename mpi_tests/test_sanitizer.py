"""The runtime under AddressSanitizer and UndefinedBehaviorSanitizer, in programs that were not built for either."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from matrix import ROOT


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory) -> str:
    """LD_PRELOAD of the sanitizer's runtimes and of a libtrace.so built with them."""
    runtimes = []
    for name in ("libasan.so", "libubsan.so"):
        done = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        if not Path(done.stdout.strip()).is_absolute():
            pytest.skip(f"gcc has no {name}")
        runtimes.append(str(Path(done.stdout.strip()).resolve()))
    target = tmp_path_factory.mktemp("sanitized")
    env = os.environ | {"TRACELIB_SANITIZE": "address,undefined"}
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", str(target)],
        cwd=ROOT, env=env, check=True, stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip
    return ":".join([*runtimes, str(target / "tracelib" / "libtrace.so")])


@pytest.mark.parametrize("program", ["blocking", "nonblocking", "collectives", "communicators"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_no_finding(request, compiled, launch, sanitized, debian, program):
    leg = request.getfixturevalue(debian)
    env = {
        "LD_PRELOAD": sanitized,
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TRACELIB_BUFFER": "16K",
    }
    finished = launch(leg, compiled(leg, f"{program}.c"), preload=False, env=env, limit_s=120).check()
    assert "AddressSanitizer" not in finished.stderr
    assert "runtime error" not in finished.stderr
    assert "tracelib:" in finished.stderr
