"""Which counters count on this node, and what they cost: found out by the library itself, in a process of its own.

The kernel's counters and the CPU clock are named by libtrace.so, PAPI's by pypapi (the extra `papi`). Whether one
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
INSTALL_PYPAPI = "pip install 'tracelib[papi]'"
LONGEST_S = 300
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); import tracelib.probing; tracelib.probing.main()"
"""Whatever lies in the working directory is not imported."""


@dataclass(frozen=True)
class NodeCounter:
    """One counter on this node. Costs are in ns of the calling thread, 0 for one that does not count."""

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
        """Cost of a recorded call in ns: it reads the counters at its entry and at its exit."""
        return 2 * self.reading_ns

    def share(self, calls_per_s: float) -> float:
        """Return the share of one core that this counter takes.

        Args:
            calls_per_s: Number of calls that are recorded each second.
        """
        return 2 * self.rested_ns * calls_per_s / 1e9


@dataclass(frozen=True)
class PapiEvents:
    """Descriptions of PAPI's presets and native events by name, from pypapi. `trouble`: why a list is missing."""

    presets: dict[str, str]
    native: dict[str, str]
    trouble: str = ""


def ask_pypapi() -> PapiEvents:
    """Return the events that this machine's PAPI may have, whether or not they count."""
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
    """Return True for a preset among the constants of pypapi.events.

    The highest bit of a preset's number is set, and so is that of masks.
    """
    other = not name.startswith("PAPI_") or name.endswith(("_MASK", "_END"))
    return not other and isinstance(code, int) and code & 1 << 31 != 0


def _ask_library(names: Sequence[str] | None) -> list:
    """Return the answer of tracelib.probing, in a process that has the library in it."""
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
    """Choose names that match a pattern (`*`, `?`, `[...]`, in any case), in order; all `usual` ones without patterns.

    What has no such sign is a name, also if nobody has listed it. Raises TracelibError for a pattern without a match.
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
    """Return the counters that `patterns` name, all of them tried; and what keeps PAPI's from it, or from counting.

    Native events of PAPI, of which there may be thousands, are listed only where a pattern names them.
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
    """Yield lines for people: a table of counters that count, then the others, by the reason."""
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
