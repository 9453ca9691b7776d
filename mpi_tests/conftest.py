"""The matrix of MPIs as a fixture, and how a test compiles a program, runs it traced and opens the result."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import forked
import matrix
import pytest
from building import build as build_program
from building import build_counter, source_of
from matrix import ROOT, Leg
from result import RankFile, Truth, rank_files, read_truth
from running import Finished, run

LIBRARY = ROOT / "tracelib" / "libtrace.so"
SPOOL = Path("/dev/shm")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a leg of the matrix that cannot run is a failure")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Lines that tests add to the end of pytest's output, as their property "summary"."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, line in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(line)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "timed: compares times that a run took, which others on the machine disturb")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each `timed` test may fail twice: what is wrong is so every time, what came between a run and its core is not.
    `timed(reruns=N)`: N times, some seconds apart, where the other worker's test may disturb it for half a minute."""
    for item in items:
        if timed := item.get_closest_marker("timed"):
            reruns = timed.kwargs.get("reruns", 2)
            item.add_marker(pytest.mark.flaky(reruns=reruns, reruns_delay=1 if reruns == 2 else 6))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if report.skipped and item.config.getoption("--no-skips") and Path(__file__).parent in item.path.parents:
        report.outcome = "failed"
        report.longrepr = f"skipped, which --no-skips forbids: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def legs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Leg]:
    """All legs by name."""
    return {leg.name: leg for leg in matrix.legs(tmp_path_factory.mktemp("legs"))}


def _leg(legs: dict[str, Leg], name: str) -> Leg:
    if legs[name].missing:
        pytest.skip(legs[name].missing)
    return legs[name]


@pytest.fixture(params=matrix.NAMES)
def mpi(request: pytest.FixtureRequest, legs: dict[str, Leg]) -> Leg:
    """Each MPI in turn."""
    return _leg(legs, request.param)


@pytest.fixture
def openmpi(legs: dict[str, Leg]) -> Leg:
    """Debian's Open MPI, for what need not be tried under each."""
    return _leg(legs, "apt-openmpi")


@pytest.fixture
def mpich(legs: dict[str, Leg]) -> Leg:
    """Debian's MPICH."""
    return _leg(legs, "apt-mpich")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """compiled(leg, "blocking.c", *flags): the program (a test's by its name, others by path), built once a session."""
    folder = tmp_path_factory.mktemp("programs")
    done: dict[str, Path] = {}

    def build(leg: Leg, source: str | Path, *flags: str) -> Path:
        path = source if isinstance(source, Path) else source_of(source)
        if leg.compiler(path) is None:
            pytest.skip(f"{leg.name} has no compiler for {path.suffix}")
        key = hashlib.sha256(repr((leg.name, path, flags)).encode()).hexdigest()[:12]
        if key not in done:
            target = folder / f"{path.stem}-{key}"
            build_program(leg, path, target, *flags)
            done[key] = target
        return done[key]

    return build


@pytest.fixture(scope="session")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Leg], Path]:
    """counter(leg): the library that counts calls beside the tracer (counter.c)."""

    done: dict[str, Path] = {}

    def build(leg: Leg) -> Path:
        if leg.name not in done:
            done[leg.name] = build_counter(leg, tmp_path_factory.mktemp(f"counter-{leg.name}"))
        return done[leg.name]

    return build


@pytest.fixture(scope="session")
def own_counters(compiled):
    """own_counters(leg): the program with counters of its own."""

    def build(leg):
        if not list(Path("/usr/include").glob("sde_lib.h")):
            pytest.skip("libpapi-dev, which has PAPI's software defined events, is not installed")
        return compiled(leg, "own_counters.c", "-lsde")

    return build


@dataclass(frozen=True)
class Traced:
    """A finished traced run and its files."""

    finished: Finished
    folder: Path
    run: Path  # run.h5

    @property
    def ranks(self) -> list[RankFile]:
        """The rank files, read with h5py alone."""
        return rank_files(self.run)

    def truths(self) -> list[Truth]:
        """The notes of each rank of a program about itself, in order of rank."""
        paths = sorted(self.folder.glob("truth-*.jsonl"), key=lambda p: int(p.stem.split("-")[1]))
        return [read_truth(path) for path in paths]


@pytest.fixture(scope="session")
def spool() -> Iterator[Path]:
    """Make a folder in memory for the buffers of traced ranks. Buffers of killed ranks stay until the session ends."""
    with tempfile.TemporaryDirectory(prefix="tracelib-tests-", dir=SPOOL if SPOOL.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture
def launch(tmp_path: Path, spool: Path) -> Callable[..., Finished]:
    """launch(leg, program, *args, ranks=, env=, preload=True, folder=): mpirun, traced or not."""

    def start(
        leg: Leg,
        program: str | Path,
        *args: str,
        ranks: int | None = None,
        env: dict[str, str] | None = None,
        preload: bool = True,
        folder: Path = tmp_path,
        limit_s: float = 60,
    ) -> Finished:
        environment = matrix.environment(leg, python=str(program) == leg.python)
        environment |= {"TRACELIB_SPOOL": str(spool)} | (env or {})
        if preload:
            if not LIBRARY.exists():
                pytest.fail("tracelib/libtrace.so is missing: run `make build`")
            environment["LD_PRELOAD"] = ":".join(filter(None, [environment.get("LD_PRELOAD"), str(LIBRARY)]))
        return run([leg.mpirun, "-n", str(ranks or leg.ranks), program, *args], folder, environment, limit_s)

    return start


@pytest.fixture
def traced(launch: Callable[..., Finished], tmp_path: Path) -> Callable[..., Traced]:
    """traced(leg, program, *args, ...): a traced run that succeeded, with its files."""

    def start(leg: Leg, program: str | Path, *args: str, **options) -> Traced:
        folder = options.get("folder", tmp_path)
        return Traced(launch(leg, program, *args, **options).check(), folder, folder / "run.h5")

    return start


@pytest.fixture
def analyze(tmp_path: Path) -> Callable[..., Finished]:
    """analyze(*args, under=leg, ranks=n, through=): the analyzer's command line in the test's folder, alone or under
    mpirun; `through` is a command that starts it."""

    def start(
        *args: str | Path, under: Leg | None = None, ranks: int = 1, through: Sequence[str | Path] = ()
    ) -> Finished:
        environment = matrix.environment(under, python=True)
        if not under and not through:
            return forked.analyze([str(word) for word in args], tmp_path, environment, 120)
        words = [sys.executable, "-c", "import sys; from analyzer.cli import main; sys.exit(main())", *map(str, args)]
        launcher = [under.mpirun, "-n", str(ranks)] if under else []
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        return run([*launcher, *through, *words], tmp_path, environment | {"PYTHONPATH": path}, 120)

    return start


@pytest.fixture
def root_only() -> None:
    """Skips where the test cannot mount a file system."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("needs root to mount a small file system")
