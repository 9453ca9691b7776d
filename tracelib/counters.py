"""Counters that count on this node, and their costs. The library itself finds out, in a process of its own.

libtrace.so lists the kernel's counters and the CPU clock, pypapi (the extra `papi`) lists PAPI's. Whether a counter
counts is tried with the code that a traced rank runs, so PAPI is the libpapi.so that a rank would load.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from textwrap import wrap

from tracelib import launchers
from tracelib.errors import TracelibError
from tracelib.schema import CounterBackend

READ_BY = {
    CounterBackend.CPU_CLOCK: "CPU clock",
    CounterBackend.PERF_SOFTWARE: "perf, kernel",
    CounterBackend.PERF_HARDWARE: "perf, processor",
    CounterBackend.PAPI: "PAPI",
}
"""Text for what reads a counter."""
INSTALL_PYPAPI = "pip install 'tracelib[papi]'"
LONGEST_S = 300
"""Longest time in s to wait for the process that tries the counters."""
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); import tracelib.probing; tracelib.probing.main()"
"""Python program that tries the counters. It imports nothing from the working directory."""


@dataclass(frozen=True)
class NodeCounter:
    """Counter on this node. Costs are ns of the calling thread, and 0 for a counter that does not count.

    Attributes:
        name: Name of the counter.
        counts: Whether it counts.
        trouble: Why it does not count. "": it does.
        read_by: What reads the counter.
        type: Paraver's number as in the .pcf; for PAPI's presets it is Extrae's. 0: there is no such counter.
        reading_ns: Cost of a reading among many readings in a row.
        rested_ns: Cost of a reading after a millisecond of other work.
        description: PAPI's description. "": none is known.
    """

    name: str
    counts: bool
    trouble: str  # why it does not count
    read_by: str
    type: int  # Paraver's number, as in .pcf: Extrae's for PAPI's presets; 0: no such counter
    reading_ns: float  # among many readings, one after the other
    rested_ns: float  # after a millisecond of something else
    description: str = ""

    @property
    def call_ns(self) -> float:
        """Cost of a recorded call, ns. A call reads the counters at its entry and at its exit."""
        return 2 * self.reading_ns

    def share(self, calls_per_s: float) -> float:
        """Return the share of one core that this counter takes.

        Args:
            calls_per_s: Number of calls that are recorded each second.
        """
        return 2 * self.rested_ns * calls_per_s / 1e9


@dataclass(frozen=True)
class PapiEvents:
    """Events of PAPI, as pypapi lists them.

    Attributes:
        presets: Description of each preset, by name.
        native: Description of each native event, by name.
        trouble: Why a list is missing. "": none is.
    """

    presets: dict[str, str]
    native: dict[str, str]
    trouble: str = ""


def ask_pypapi() -> PapiEvents:
    """List the events that this machine's PAPI may have. Whether they count is not tried."""
    try:
        from pypapi import events, papi_low
        from pypapi.exceptions import PapiError
    except ImportError as error:
        why = "is not installed" if getattr(error, "name", "") == "pypapi" else f"cannot be used ({error})"
        return PapiEvents(
            {}, {}, f"pypapi {why}: PAPI's counters can be tried only by their full names ({INSTALL_PYPAPI})"
        )
    presets = {name: "" for name, code in vars(events).items() if _is_preset(name, code)}
    native: dict[str, str] = {}
    off = []
    try:
        papi_low.library_init()
        for name in presets:
            with suppress(PapiError):
                presets[name] = papi_low.get_event_info(getattr(events, name)).long_descr
        for component in range(papi_low.num_components()):
            native |= {event.symbol: event.long_descr for event in papi_low.enum_cmp_event(component)["native"]}
            info = papi_low.get_component_info(component)
            if info.disabled:
                off.append(f"{info.name} ({info.disabled_reason})")
    except (PapiError, OSError) as error:
        return PapiEvents(
            presets, native, f"pypapi cannot ask PAPI ({error}): native events can be tried only by their full names"
        )
    return PapiEvents(presets, native, f"PAPI has switched off {', '.join(off)}" if off else "")


def _is_preset(name: str, code: object) -> bool:
    """Return True if a constant of pypapi.events is a preset.

    The highest bit of a preset's number is set. It is also set in masks.
    """
    other = not name.startswith("PAPI_") or name.endswith(("_MASK", "_END"))
    return not other and isinstance(code, int) and code & 1 << 31 != 0


def _ask_library(names: Sequence[str] | None) -> list:
    """Run tracelib.probing in a process that has the library loaded, and return its answer."""
    environment = dict(os.environ)
    environment[launchers.PRELOAD] = launchers.with_library(
        environment.get(launchers.PRELOAD), str(launchers.library())
    )
    words = [sys.executable, "-P", "-c", _PROGRAM, str(launchers.LIBRARY.parent.parent)]
    try:
        done = subprocess.run(
            words, input=json.dumps(names), env=environment, capture_output=True, text=True, timeout=LONGEST_S
        )
    except subprocess.TimeoutExpired as error:
        raise TracelibError(f"counters do not answer within {LONGEST_S} s", "name fewer of them") from error
    try:
        return json.loads(done.stdout)
    except ValueError:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise TracelibError(f"counters cannot be tried: {said}", "see `tracelib doctor`") from None


def choose(patterns: Sequence[str], usual: Iterable[str], more: Iterable[str]) -> list[str]:
    """Choose names by patterns with `*`, `?` or `[...]`, in upper or lower case.

    A text without such a sign is taken as a name, even if it is not listed.

    Args:
        patterns: The patterns. Empty: all `usual` names are chosen.
        usual: Names that are listed by default.
        more: Further names that a pattern may match.

    Raises:
        TracelibError: A pattern matches no name.
    """
    usual = list(usual)
    if not patterns:
        return usual
    listed = [*usual, *more]
    chosen: dict[str, None] = {}
    for pattern in patterns:
        matching = [name for name in listed if fnmatchcase(name.upper(), pattern.upper())]
        if not matching and re.search(r"[*?\[]", pattern):
            raise TracelibError(f"no counter matches {pattern}", "`tracelib counters` lists them", 2)
        chosen |= dict.fromkeys(matching or [pattern])
    return list(chosen)


def look(patterns: Sequence[str]) -> tuple[list[NodeCounter], str]:
    """Try counters on this node.

    PAPI may have thousands of native events. They are tried only if a pattern names them.

    Args:
        patterns: Names or patterns as in `choose`. Empty: all counters but native events.

    Returns:
        The counters; and a text on why PAPI's counters are missing or do not count ("": they do).
    """
    papi = ask_pypapi()
    names = choose(patterns, [*_ask_library(None), *papi.presets], papi.native)
    described = papi.presets | papi.native
    counters = [
        NodeCounter(
            name=row["name"],
            counts=not row["trouble"],
            trouble=row["trouble"],
            read_by=READ_BY[CounterBackend(row["backend"])],
            type=row["type"],
            reading_ns=row["reading_ns"],
            rested_ns=row["rested_ns"],
            description=described.get(row["name"], ""),
        )
        for row in _ask_library(names)
    ]
    return counters, papi.trouble


HEADINGS = ("counts here", "read by", "number", "a reading", "a call", "1000 calls/s")


def _cells(counter: NodeCounter) -> tuple[str, ...]:
    costs = f"{counter.reading_ns:.0f} ns", f"{counter.call_ns:.0f} ns", f"{counter.share(1000):.3%} of a core"
    return counter.name, counter.read_by, str(counter.type), *costs


def lines(counters: Sequence[NodeCounter], missing: str) -> Iterator[str]:
    """Yield lines of text: a table of the counters that count, then the others, grouped by the reason."""
    rows = [_cells(counter) for counter in counters if counter.counts]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows, strict=True)]
    for row in (HEADINGS, *rows) if rows else ():
        cells = zip(row, widths, (str.ljust, str.ljust, *[str.rjust] * 4), strict=True)
        yield "  ".join(align(cell, width) for cell, width, align in cells)
    for trouble in dict.fromkeys(c.trouble for c in counters if not c.counts):
        names = ", ".join(c.name for c in counters if c.trouble == trouble)
        yield from ("", f"not here: {trouble}")
        yield from wrap(names, 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    if missing:
        yield from ("", missing)
