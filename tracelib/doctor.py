"""Answers "no output?": looks at the machine, at the program, and at a traced run of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from tracelib import launchers, run_command, schema, settings
from tracelib.elf import ElfFile, find_program, inspect
from tracelib.errors import TracelibError
from tracelib.left_buffers import BufferOwner, left_buffers

LAUNCHERS = ("mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra", "srun")
"""Names of MPI launchers that are looked up on the PATH."""
SPOOL = "/dev/shm"
"""Folder of the buffers, unless TRACELIB_SPOOL names another one."""
SPOOL_ROOM_MB = 64
"""Free space of the spool in MB below which a note is given."""
_MOST_RUNS = 3
"""Largest number of runs whose names are shown."""
DEBUG_LINE = "tracelib: debug: "
"""Begin of each line that the library writes with TRACELIB_DEBUG=1."""


@dataclass(frozen=True)
class DoctorFinding:
    """Result of one check.

    Attributes:
        topic: What was checked.
        verdict: "ok", "note" (may matter) or "problem".
        text: What was found.
        hint: What to do about it. "": nothing.
    """

    topic: str
    verdict: str
    text: str
    hint: str = ""


def examine(command: list[str]) -> list[DoctorFinding]:
    """Check this machine, and the program of a command line.

    Args:
        command: Command line of a program. []: only the machine is checked.

    Returns:
        All findings, in the order of the checks.
    """
    findings = [
        check_library(),
        *check_mpi(),
        check_hdf5(),
        check_clock(),
        check_spool(),
        *check_left_buffers(),
        check_output(),
    ]
    findings += check_variables(dict(os.environ))
    if command:
        path = find_program(command)
        program = inspect(path) if path else None
        findings += check_program(program, command)
        if findings[0].verdict == "ok":
            findings += check_run(command, program)
    return findings


def check_library() -> DoctorFinding:
    """Check that libtrace.so exists and can be preloaded into a program."""
    try:
        path = launchers.library()
    except TracelibError as error:
        return DoctorFinding("library", "problem", str(error), error.hint)
    done = subprocess.run(
        [sys.executable, "-c", ""], env=dict(os.environ) | {"LD_PRELOAD": str(path)}, capture_output=True, text=True
    )
    if done.returncode != 0 or done.stderr:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
        return DoctorFinding(
            "library", "problem", f"{path} cannot be preloaded: {said}", "build it on this kind of machine"
        )
    return DoctorFinding("library", "ok", str(path))


def check_mpi() -> list[DoctorFinding]:
    """Report the MPI launchers on the PATH, with their versions."""
    found = []
    for name in LAUNCHERS:
        path = shutil.which(name)
        if path:
            lines = [line.strip() for line in launchers.version_text(path).splitlines() if line.strip()]
            version = next((line for line in lines if re.search(r"\d+\.\d+", line)), "")
            found.append(
                DoctorFinding("MPI", "ok", f"{path}: {launchers.detect(path).value}, {' '.join(version.split())}")
            )
    return found or [DoctorFinding("MPI", "note", "no mpirun, mpiexec or srun on the PATH")]


def check_hdf5() -> DoctorFinding:
    """Report the versions of h5py and HDF5, which read the result. The traced program itself loads no HDF5."""
    return DoctorFinding("HDF5", "ok", f"h5py {h5py.version.version} with HDF5 {h5py.version.hdf5_version}")


def check_clock() -> DoctorFinding:
    """Report the clock that is read. The invariant time stamp counter is read in 10 ns, the kernel's clock in 25 ns."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    if "constant_tsc" in flags and "nonstop_tsc" in flags:
        return DoctorFinding("clock", "ok", "invariant time stamp counter")
    return DoctorFinding("clock", "note", "no invariant time stamp counter: CLOCK_MONOTONIC is read, a little slower")


def _free_mb(path: Path) -> int:
    return shutil.disk_usage(path).free >> 20


def check_spool() -> DoctorFinding:
    """Check the folder of the buffers, which survive a killed rank: it must be writable and have 64 MB free."""
    place = Path(os.environ.get("TRACELIB_SPOOL", SPOOL))
    if not place.is_dir() or not os.access(place, os.W_OK):
        return DoctorFinding(
            "spool", "problem", f"{place} cannot be written", "set TRACELIB_SPOOL to a local directory"
        )
    free = _free_mb(place)
    if free < SPOOL_ROOM_MB:
        return DoctorFinding(
            "spool",
            "note",
            f"{place} has only {free} MB free",
            "set a lower TRACELIB_BUFFER, or set TRACELIB_SPOOL to another directory",
        )
    return DoctorFinding("spool", "ok", f"{place}, {free} MB free")


def check_left_buffers() -> list[DoctorFinding]:
    """Report the buffers that killed processes left on this node."""
    left = [one for one in left_buffers() if one.owner is not BufferOwner.PROCESS]
    if not left:
        return []
    megabytes = sum(one.size_bytes for one in left) / 1e6
    runs = sorted({str(one.rank_file.parent) for one in left})
    shown = ", ".join(runs[:_MOST_RUNS]) + (f" and {len(runs) - _MOST_RUNS} more" if len(runs) > _MOST_RUNS else "")
    text = f"{len(left)} killed process{'es' if len(left) > 1 else ''} left buffers of {megabytes:.1f} MB: of {shown}"
    return [DoctorFinding("left buffers", "note", text, "`tracelib recover` puts them into the files and removes them")]


def check_output() -> DoctorFinding:
    """Report the file into which a run would be written, and the free space there."""
    wanted = os.environ.get("TRACELIB_OUTPUT", "run.h5")
    try:
        path = run_command.output_path(wanted)
    except TracelibError as error:
        return DoctorFinding(
            "output", "problem", str(error), "set TRACELIB_OUTPUT to a file in a directory you can write"
        )
    return DoctorFinding("output", "ok", f"{path}, {_free_mb(path.parent)} MB free")


def check_variables(environment: dict[str, str]) -> list[DoctorFinding]:
    """Check the settings that change what is recorded.

    Args:
        environment: Environment variables by name.
    """
    findings = []
    strangers = settings.unknown(environment)
    for name, value in sorted(environment.items()):
        if name in strangers:
            hint = f"is it meant for {strangers[name]}?" if strangers[name] else f"unset {name}"
            findings.append(DoctorFinding("setting", "note", f"{name}={value} is not a setting: it does nothing", hint))
        elif name == "TRACELIB_DISABLE" and value not in ("", "0"):
            findings.append(
                DoctorFinding("setting", "problem", f"{name}={value}: nothing is recorded", f"unset {name}")
            )
        elif name.startswith("TRACELIB_") or name == launchers.PRELOAD:
            findings.append(DoctorFinding("setting", "note", f"{name}={value}"))
    return findings


def check_program(program: ElfFile | None, command: list[str]) -> list[DoctorFinding]:
    """Report why a preloaded library would see no call of a program. The program's file is read, but not run.

    Args:
        program: The program's file. None: none of the words of the command names a program.
        command: The command line.
    """
    if program is None:
        return [
            DoctorFinding(
                "program", "note", f"none of the words of `{' '.join(command)}` names a program on this machine"
            )
        ]
    name = str(program.path)
    if program.privileged:
        hint = "trace a copy without the set-user-ID or set-group-ID bit"
        return [
            DoctorFinding("program", "problem", f"{name} is set-user-ID or set-group-ID: LD_PRELOAD is ignored", hint)
        ]
    if not program.readable:
        return [
            DoctorFinding("program", "note", f"{name} is a script, or readelf is missing: only running it shows more")
        ]
    if not program.dynamic:
        return [DoctorFinding("program", "problem", f"{name} is linked statically: nothing can be preloaded", RELINK)]
    if program.libraries:
        findings = [DoctorFinding("program", "ok", f"{name} uses {', '.join(program.libraries)}")]
        if program.defines:
            findings.append(_own_wrappers(program))
        return findings
    if program.defines:
        return [
            DoctorFinding("program", "problem", f"{name} contains MPI itself ({program.defines[0]} and others)", RELINK)
        ]
    if program.mentions:
        return [
            DoctorFinding("program", "note", f"{name} is not linked with MPI but names it: it loads MPI while it runs")
        ]
    return [DoctorFinding("program", "note", f"{name} is not linked with MPI: an interpreter, or not an MPI program")]


RELINK = "link it with the shared libmpi (mpicc without -static)"
"""Hint for a program that contains MPI, or that is linked statically."""
KNOWN = "run the program with Open MPI, with MPICH or an MPI compatible with it, or with a libmpi_abi"
"""Hint for an MPI that cannot be traced."""
BY_HANDLE = (
    "if it finds the functions of libmpi by other means than dlsym and dlopen (dlmopen, dlvsym, its own linker), no"
    " preloaded library sees the calls: let it open libtrace.so instead, with LD_PRELOAD=libmpi.so"
)
"""Hint for a program that may find the functions of libmpi in a way that no preloaded library sees."""


OWN_WRAPPERS = "remove its own MPI wrappers, or let them call MPI_ instead of PMPI_"
"""Hint for a program that defines functions of MPI itself."""
LIBRARY_FIRST = "put the library first, as `tracelib run` does: LD_PRELOAD=libtrace.so:TOOL.so"
"""Hint if another tool stands ahead of the library."""
NOT_DEEP = "open it without RTLD_DEEPBIND, or with the MPI of the program"
"""Hint for a library that was opened with RTLD_DEEPBIND."""
ASAN_NOT_FIRST = "ASan runtime does not come first"
"""Message of the runtime of AddressSanitizer when another library was loaded before it."""
ASAN = (
    "preload it ahead of the library: LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(tracelib lib); `tracelib run`"
    " does so where it is given the program itself and not a script"
)
"""Hint for a program with AddressSanitizer."""


def _own_wrappers(program: ElfFile) -> DoctorFinding:
    """Report that a program defines functions of MPI itself."""
    text = f"{program.path} defines {', '.join(program.defines)} itself: calls to them do not reach a preloaded library"
    return DoctorFinding("program", "problem", text, OWN_WRAPPERS)


@dataclass
class DebugMessages:
    """Contents of the messages that the library writes in a run with TRACELIB_DEBUG=1.

    Attributes:
        loaded: Number of processes into which the library was loaded.
        mpi: Name of the MPI. "": no call reached the library.
        recording: Number of processes that began to record.
        unknown: Why the MPI cannot be traced. "": it can be traced.
        ahead: Other tools for MPI that get the calls before the library. "" is the program itself.
        behind: Other tools for MPI that get the calls from the library.
        deep: Messages about files opened with RTLD_DEEPBIND, and what happens to their calls.
        bypassed: Number of processes in which MPI was initialized without the library.
    """

    loaded: int = 0
    mpi: str = ""
    recording: int = 0
    unknown: str = ""  # why the MPI that was met cannot be traced
    ahead: tuple[str, ...] = ()  # other tools for MPI that get its calls first; "" is the program itself
    behind: tuple[str, ...] = ()  # and that get them from the library
    deep: tuple[str, ...] = ()  # what was opened with RTLD_DEEPBIND, and what comes of its calls
    bypassed: int = 0  # processes in which MPI was initialized without the library

    @classmethod
    def read(cls, stderr: str) -> DebugMessages:
        """Read the library's messages from the standard error of the ranks. Other lines are ignored."""
        lines = [line.partition(DEBUG_LINE)[2] for line in stderr.splitlines() if DEBUG_LINE in line]
        return cls(
            sum(line.startswith("loaded into process") for line in lines),
            _after(lines, "MPI is "),
            sum(" records into " in line for line in lines),
            _after(lines, "not traced: "),
            _all_after(lines, "tool ahead: "),
            _all_after(lines, "tool behind: "),
            tuple(dict.fromkeys(line for line in lines if "RTLD_DEEPBIND" in line)),
            lines.count("MPI was initialized past this library"),
        )


def _after(lines: list[str], start: str) -> str:
    """Return the rest of the first line that begins with `start`. "": no line does."""
    return next((line.removeprefix(start) for line in lines if line.startswith(start)), "")


def _all_after(lines: list[str], start: str) -> tuple[str, ...]:
    """Return the rest of each line that begins with `start`, without duplicates."""
    return tuple(dict.fromkeys(line.removeprefix(start) for line in lines if line.startswith(start)))


def check_run(command: list[str], program: ElfFile | None) -> list[DoctorFinding]:
    """Run the command traced, into a folder that is removed afterwards, and report which calls the library recorded.

    Args:
        command: The command line.
        program: The program's file. None: not found.
    """
    kind = launchers.detect(command[0])
    with tempfile.TemporaryDirectory(prefix="tracelib-doctor-", dir=_writable_folder()) as folder:
        result = Path(folder) / "run.h5"
        environment = dict(os.environ) | {"TRACELIB_OUTPUT": str(result), "TRACELIB_DEBUG": "1", "TRACELIB_QUIET": "1"}
        words, environment = launchers.traced(command, kind, launchers.preloads(command), environment)
        try:
            done = subprocess.run(
                words, env=environment, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, errors="replace"
            )
        except OSError as error:
            return [DoctorFinding("run", "problem", f"cannot start {command[0]}: {error.strerror}")]
        sys.stderr.writelines(line for line in done.stderr.splitlines(keepends=True) if DEBUG_LINE not in line)
        recorded = _recorded(result)
    findings = [DoctorFinding("launcher", "ok", f"{command[0]}: {kind.value}")]
    if done.returncode != 0:
        findings.append(DoctorFinding("run", "note", f"the command ended with exit code {done.returncode}"))
    debug = DebugMessages.read(done.stderr)
    findings += check_tools(debug, recorded)
    if ASAN_NOT_FIRST in done.stderr:
        findings.append(
            DoctorFinding("run", "problem", "the runtime of AddressSanitizer is not the first library", ASAN)
        )
    return findings + judge(debug, recorded, program)


def _writable_folder() -> str | None:
    """Return ".", the folder that the ranks of other nodes share, if it is writable. None: it is not."""
    return "." if os.access(".", os.W_OK) else None


@dataclass
class RecordedContent:
    """Contents of the rank files of a run.

    Attributes:
        ranks: Number of rank files.
        calls: Number of calls in all of them.
        events: Number of the program's own events in all of them.
    """

    ranks: int = 0
    calls: int = 0
    events: int = 0


def _recorded(result: Path) -> RecordedContent:
    """Count ranks, calls and events in the rank files of a run. `result` is the path of its run.h5."""
    sums = RecordedContent()
    for path in run_command.rank_folder(result).glob("*.h5"):
        with h5py.File(path) as file:
            sums.ranks += 1
            sums.calls += len(file["calls"])
            types = file["events"].fields("type")[:]
            sums.events += int((~np.isin(types, schema.TRACERS_TYPES)).sum())
    return sums


def check_tools(debug: DebugMessages, recorded: RecordedContent) -> list[DoctorFinding]:
    """Report other libraries that stand between the program and MPI, or that find MPI without preloaded libraries.

    Args:
        debug: Messages of the library.
        recorded: Contents of the run's files.
    """
    findings = []
    for path in debug.ahead:
        if not path:
            findings.append(DoctorFinding("tools", "problem", "the program defines MPI_Init itself", OWN_WRAPPERS))
        elif recorded.calls:
            text = f"{path} defines MPI_Init, too, and gets the calls ahead of the library: both count"
            findings.append(DoctorFinding("tools", "ok", text))
        else:
            text = f"{path} defines MPI_Init and stands ahead of the library, which gets no call from it"
            findings.append(DoctorFinding("tools", "problem", text, LIBRARY_FIRST))
    for path in debug.behind:
        text = f"{path} defines MPI_Init, too, and gets the calls from the library: both count"
        findings.append(DoctorFinding("tools", "ok", text, f"without `tracelib run`: {LIBRARY_FIRST}"))
    for line in debug.deep:
        lost = "not recorded" in line
        findings.append(DoctorFinding("tools", "problem" if lost else "note", line, NOT_DEEP if lost else ""))
    return findings


def judge(debug: DebugMessages, recorded: RecordedContent, program: ElfFile | None) -> list[DoctorFinding]:
    """Report whether calls were recorded in a traced run, and if not, at which step the library failed.

    Args:
        debug: Messages of the library.
        recorded: Contents of the run's files.
        program: The program's file. None: not found.
    """
    if recorded.calls:
        text = f"{recorded.calls} calls of {recorded.ranks} ranks were recorded under {debug.mpi or 'an MPI'}"
        return [DoctorFinding("run", "ok", text)]
    if not debug.loaded:
        hint = "the launcher may clear the environment: try `mpirun -n 4 env LD_PRELOAD=$(tracelib lib) ./app`"
        return [DoctorFinding("run", "problem", "the library was loaded into no process", hint)]
    if debug.unknown:
        return [DoctorFinding("run", "problem", debug.unknown, KNOWN)]
    if not debug.mpi and recorded.events:
        text = f"{recorded.events} events of the program's own were recorded, and no call of MPI"
        if program and (program.libraries or program.mentions):
            return [DoctorFinding("run", "note", text, _missing_calls(program))]
        return [DoctorFinding("run", "ok", text)]
    if debug.bypassed:
        processes = "1 process" if debug.bypassed == 1 else f"{debug.bypassed} processes"
        text = f"MPI was initialized in {processes} with the library, but not through it"
        hint = next((LIBRARY_FIRST if path else OWN_WRAPPERS for path in debug.ahead), BY_HANDLE)
        return [DoctorFinding("run", "problem", text, hint)]
    if not debug.mpi:
        text = f"the library was loaded into {debug.loaded} processes, but none of them called MPI through it"
        return [DoctorFinding("run", "problem", text, _missing_calls(program))]
    if not debug.recording:
        text = f"MPI ({debug.mpi}) was called, but no rank returned from MPI_Init, or none could create its file"
        return [DoctorFinding("run", "problem", text, "see the lines above that begin with `tracelib:`")]
    return [DoctorFinding("run", "problem", f"{debug.recording} ranks began to record, but no call is in their files")]


def _missing_calls(program: ElfFile | None) -> str:
    """Return the hint for a run in which the library was loaded and saw no call of MPI."""
    if program and program.libraries:
        return "does the program call MPI_Init at all?"
    if program and program.readable and not program.mentions:
        return "a program without MPI is recorded once it names its regions (docs/regions.md)"
    return BY_HANDLE
