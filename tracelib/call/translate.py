"""Puts calls of tracelib.h where the pragmas of a source stand; everything else is passed through as it is."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from tracelib.call.experiments import PlacedPragma, PragmaCheck, error_at, names
from tracelib.call.pragmas import Pragma, PragmaError, parse
from tracelib.call.scan import Directive, directives, place
from tracelib.drivers import Driver


@dataclass(frozen=True)
class TranslatedProgram:
    """The two files, and what a run needs."""

    source: str
    header: str  # "": there is none
    environment: dict[str, str]  # variables without which an observable is not recorded
    experiments: tuple[str, ...]
    advice: tuple[str, ...] = ()  # what to do beside the run


def translate(source: str, name: str, header_name: str) -> TranslatedProgram:
    """Return the translation of a source. `name`: what the compiler's messages shall call it; `header_name`: the header
    that it includes. Raises TracelibError with line and column of a pragma that is wrong."""
    every = list(directives(source))
    found = [PlacedPragma(pragma, one) for one in every if (pragma := _parsed(source, name, one))]
    begun = {one.pragma.name for one in found if one.pragma.kind == "begin"}
    found = [one for one in found if not _is_foreign(one, begun)]
    drivers = PragmaCheck(source, name, found, begun).drivers()
    used = drivers.of
    pieces, at = [f"{_MADE}\n#line 1 {_quoted(name)}\n"], 0
    include_at = _include_at(every, found)
    for one in [*found, None]:
        until = one.directive.begin if one else len(source)
        if at <= include_at <= until:
            line = place(source, include_at)[0]
            pieces += [source[at:include_at], f"#include {_quoted(header_name)}\n#line {line} {_quoted(name)}\n"]
            at, include_at = include_at, -1
        pieces.append(source[at:until])
        if one:
            pieces.append(_statement(one.pragma, used.get(one.pragma.name)) + _line_ends(source, one.directive))
            at = one.directive.end
    mpi = any(one.pragma.kind == "parallel" and one.pragma.name == "MPI" for one in found)
    header = _header(any(driver.moments for driver in used.values()), mpi)
    return TranslatedProgram("".join(pieces), header, drivers.environment(found), names(found), drivers.advice)


def _parsed(source: str, name: str, directive: Directive) -> Pragma | None:
    try:
        return parse(directive.text) if directive.word == "pragma" else None
    except PragmaError as error:
        if re.match(r"\s*#\s*pragma\s+report\b", directive.text):
            return None  # another compiler's
        raise error_at(source, name, directive.begin + error.at, str(error)) from error


def _is_foreign(one: PlacedPragma, begun: set[str]) -> bool:
    """Return True for a `#pragma report` without cll that names no experiment: it is not ours."""
    return one.pragma.kind == "report" and one.pragma.name not in begun and " cll " not in one.directive.text


def _include_at(every: list[Directive], found: list[PlacedPragma]) -> int:
    """Return the place after the last #include before the first experiment that is in no function and no condition.

    Definitions of the program for its own headers then hold for ours, too. Without one: before everything.
    """
    first = min((one.directive.begin for one in found if one.pragma.kind in ("begin", "end")), default=0)
    at = 0
    for one in every:
        if one.begin < first and one.word == "include" and not one.depth and not one.conditions:
            at = one.end + 1
    return at


def _line_ends(source: str, directive: Directive) -> str:
    """Return as many lines as a pragma has, so that all others keep their numbers."""
    return "\n" * source.count("\n", directive.begin, directive.end)


def _statement(pragma: Pragma, driver: Driver | None) -> str:
    name = _quoted(pragma.name)
    if pragma.kind == "begin":
        said = "".join(f" CLL_RECORD({_quoted(variable)}, {variable});" for variable in pragma.variables)
        return f"{{ tracelib_region_begin({name});{said}{_asked(driver, 'begin', name)} }}"
    if pragma.kind == "end":
        asked = _asked(driver, "end", name)
        return f"{{{asked} tracelib_region_end({name}); }}"
    return ""


def _asked(driver: Driver | None, moment: str, name: str) -> str:
    if driver is None or moment not in driver.moments:
        return ""
    return f" if (cll_is_first()) tracelib_driver({_quoted(driver.name)}, {_quoted(moment)}, {name});"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_MADE = "/* Made by tracelib call. */"

_HEADER = f"""{_MADE}
#include <tracelib.h>

/* A parameter of the innermost region. Half of one is 0 in integers: so they are told from real numbers in any C.
   Integers that long long does not have are recorded as real numbers. */
#define CLL_RECORD(name, x) \\
    ((((x) - (x)) + 1) / 2 == 0 && ((x) > 0) == ((long long)(x) > 0) \\
         ? tracelib_region_parameter_integer(name, (long long)(x)) \\
         : tracelib_region_parameter(name, (double)(x)))
"""
_FIRST_OF_MPI = """
/* One rank asks the drivers for all. */
static inline int cll_is_first(void)
{
    int ready = 0, rank = 0;
    MPI_Initialized(&ready);
    if (ready) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}
"""
_FIRST_ALONE = """
static inline int cll_is_first(void)
{
    return 1;
}
"""


def _header(asks: bool, mpi: bool) -> str:
    if not asks:
        return _HEADER
    python = f"#ifndef TRACELIB_PYTHON\n#define TRACELIB_PYTHON {_quoted(sys.executable)}\n#endif\n"
    return _HEADER + python + "#include <tracelib_drivers.h>\n" + (_FIRST_OF_MPI if mpi else _FIRST_ALONE)


def is_made(text: str) -> bool:
    """Return True if a file is a translation, which may be replaced."""
    return text.startswith(_MADE)
