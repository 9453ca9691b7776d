"""Rewrites a command so that the library is loaded into the ranks that it starts, but not into mpirun itself."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path

from tracelib.elf import SANITIZER, find_program, sanitizer
from tracelib.errors import TracelibError

LIBRARY = Path(__file__).resolve().parent / "libtrace.so"
"""Path of the library."""
INCLUDE = LIBRARY.with_name("include")
"""Folder of the headers for programs that name their regions."""
PRELOAD = "LD_PRELOAD"
"""Environment variable with the libraries that the loader preloads."""
LAUNCHER_NAME = re.compile(r"(mpirun|mpiexec|orterun|prterun|srun)([._-].*)?")
"""Names of programs that may be launchers of ranks."""


class Launcher(Enum):
    """Kind of launcher, by the way in which environment variables are given to the ranks alone."""

    OPEN_MPI = "Open MPI"
    HYDRA = "Hydra (MPICH, Intel MPI)"
    SLURM = "srun"
    UNKNOWN = "no known launcher"


SIGNATURES = (
    (re.compile(r"Open ?MPI|OpenRTE|PRRTE|prterun", re.IGNORECASE), Launcher.OPEN_MPI),
    (re.compile(r"HYDRA|Intel\(R\) MPI", re.IGNORECASE), Launcher.HYDRA),
    (re.compile(r"slurm", re.IGNORECASE), Launcher.SLURM),
)
"""Text in the output of `launcher --version` by which each launcher is recognized."""


def library() -> Path:
    """Return the path of libtrace.so.

    Raises:
        TracelibError: The library is missing, or its path cannot be preloaded.
    """
    if not LIBRARY.exists():
        raise TracelibError(f"{LIBRARY} is missing", "build it with `make build`, or install tracelib again")
    if re.search(r"[\s:]", str(LIBRARY)):
        raise TracelibError(
            f"the loader cannot preload {LIBRARY}: it takes blanks and colons for separators",
            "install tracelib in a directory without them",
        )
    return LIBRARY


def version_text(launcher: str) -> str:
    """Return the output of `launcher --version`; "" if the launcher cannot be run."""
    try:
        done = subprocess.run(
            [launcher, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout + done.stderr


def detect(word: str) -> Launcher:
    """Find which launcher a command uses, by the name of its first word and by the output of --version."""
    if not LAUNCHER_NAME.fullmatch(Path(word).name):
        return Launcher.UNKNOWN
    text = version_text(word)
    return next((kind for signature, kind in SIGNATURES if signature.search(text)), Launcher.UNKNOWN)


def with_library(value: str | None, added: str) -> str:
    """Return a value of LD_PRELOAD with the library before the user's libraries, but behind runtimes of sanitizers.

    A sanitizer ends the program if its runtime is not the first library. Another tool for MPI (or libmpi itself)
    before the
    library would get the program's calls, and may not pass them on. The library passes calls on to the tool.

    Args:
        value: The user's value of LD_PRELOAD. None: it is not set.
        added: Paths to add, separated by colons.
    """
    ours = added.split(":")
    users = [entry for entry in re.split(r"[\s:]+", value or "") if entry and entry not in ours]
    runtimes = [entry for entry in users if SANITIZER.search(entry)]
    ours = [entry for entry in ours if not (runtimes and SANITIZER.search(entry))]
    return ":".join([*runtimes, *ours, *(entry for entry in users if entry not in runtimes)])


def preloads(command: Sequence[str]) -> str:
    """Return the value of LD_PRELOAD for a command: the library, after the sanitizer that the program is linked with.

    Raises:
        TracelibError: The library cannot be preloaded.
    """
    program = find_program(list(command))
    runtime = sanitizer(program) if program else ""
    return ":".join(filter(None, [runtime, str(library())]))


def traced(
    command: Sequence[str], launcher: Launcher, preload: str, environment: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Return command and environment with which the ranks load `preload`.

    Known launchers get LD_PRELOAD and the variables TRACELIB_* by options of their own, which also reach other nodes. A
    script, or a program without a launcher, gets LD_PRELOAD in its environment.

    Args:
        command: Words of the command.
        launcher: Kind of launcher.
        preload: Libraries to preload, from `preloads`.
        environment: Environment for the command, with the variables TRACELIB_* of the run.
    """
    ours = {name: value for name, value in environment.items() if name.startswith("TRACELIB_")}
    inherited = environment.get(PRELOAD)
    rewrite = {Launcher.OPEN_MPI: _open_mpi, Launcher.HYDRA: _hydra, Launcher.SLURM: _slurm}.get(launcher)
    if rewrite is None:
        return list(command), dict(environment) | {PRELOAD: with_library(inherited, preload)}
    return rewrite(list(command), ours, inherited, preload), dict(environment)


def _open_mpi(command: list[str], ours: Mapping[str, str], inherited: str | None, preload: str) -> list[str]:
    """Add `-x NAME=value` for every application context: Open MPI 4 takes each for the context it stands in."""
    words = [command[0]]
    for context in _contexts(command[1:]):
        words += _open_mpi_context(context, ours, inherited, preload)
    return words


def _open_mpi_context(context: list[str], ours: Mapping[str, str], inherited: str | None, preload: str) -> list[str]:
    separator, words = context[:1] if context[:1] == [":"] else [], context
    words = words[len(separator) :]
    value = inherited
    for place in range(len(words) - 1):
        if words[place] == "-x" and words[place + 1].startswith(f"{PRELOAD}="):
            value = words[place + 1].partition("=")[2]
            words = words[:place] + words[place + 2 :]
            break
    settings = [f"{PRELOAD}={with_library(value, preload)}", *(f"{n}={v}" for n, v in ours.items())]
    return separator + [word for setting in settings for word in ("-x", setting)] + words


def _contexts(words: list[str]) -> Iterator[list[str]]:
    """Yield the words up to before each ':'."""
    start = 0
    for place, word in enumerate(words):
        if word == ":":
            yield words[start:place]
            start = place
    yield words[start:]


def _hydra(command: list[str], ours: Mapping[str, str], inherited: str | None, preload: str) -> list[str]:
    """Add `-genv NAME value` once, for all contexts; a user's own -genv or -env LD_PRELOAD is extended in place."""
    words, own = command[1:], False
    for place in range(len(words) - 2):
        if words[place] in ("-genv", "-env") and words[place + 1] == PRELOAD:
            words[place + 2] = with_library(words[place + 2], preload)
            own = own or words[place] == "-genv"
    settings = dict(ours) if own else {PRELOAD: with_library(inherited, preload), **ours}
    return [command[0], *(word for name, value in settings.items() for word in ("-genv", name, value)), *words]


def _slurm(command: list[str], ours: Mapping[str, str], inherited: str | None, preload: str) -> list[str]:
    """Add LD_PRELOAD to --export; the other variables are named, their values taken from srun's environment."""
    words = command[1:]
    place = next((i for i, word in enumerate(words) if word.startswith("--export=")), None)
    wanted = words.pop(place).partition("=")[2] if place is not None else "ALL"
    listed = [] if wanted.upper() in ("NONE", "NIL") else wanted.split(",")
    for entry in [e for e in listed if e.startswith(f"{PRELOAD}=")]:
        listed.remove(entry)
        inherited = entry.partition("=")[2]
    exports = [*listed, *ours, f"{PRELOAD}={with_library(inherited, preload)}"]
    return [command[0], f"--export={','.join(exports)}", *words]
