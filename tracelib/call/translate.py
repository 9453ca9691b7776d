"""Puts calls of tracelib.h where the pragmas of a source stand; everything else is passed through as it is."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from tracelib.call.pragmas import Pragma, PragmaError, parse
from tracelib.call.scan import Directive, directives, place
from tracelib.drivers import Driver, driver_named, driver_of
from tracelib.errors import TracelibError

COMMUNICATION = ("SEQ", "MPI", "OpenMP", "PUB_BSP")
"""Communication drivers of the thesis (section 2.3.1). The runtime collects the data of all ranks and threads,
whichever it is; only drivers that one rank has to ask need to know."""
_STATEMENT_MAY_FOLLOW = ";{}:"


@dataclass(frozen=True)
class Translated:
    """The two files, and what a run needs."""

    source: str
    header: str
    environment: dict[str, str]  # variables without which an observable is not recorded
    experiments: tuple[str, ...]


@dataclass(frozen=True)
class _Found:
    pragma: Pragma
    directive: Directive


def translate(source: str, name: str, header_name: str) -> Translated:
    """The translation of a source. `name`: what the compiler's messages shall call it; `header_name`: the header that
    it includes. Raises TracelibError with line and column of a pragma that is wrong."""
    every = list(directives(source))
    found = [_Found(pragma, one) for one in every if (pragma := _parsed(source, name, one))]
    begun = {one.pragma.name for one in found if one.pragma.kind == "begin"}
    found = [one for one in found if not _is_foreign(one, begun)]
    used = _Check(source, name, found, begun).drivers()
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
    environment = {}
    for observable, driver in {(one.pragma.observable, used[one.pragma.name]) for one in _begins(found)}:
        environment.update(driver.environment(observable))
    mpi = any(one.pragma.kind == "parallel" and one.pragma.name == "MPI" for one in found)
    header = _header(any(driver.moments for driver in used.values()), mpi)
    names = tuple(dict.fromkeys(one.pragma.name for one in _begins(found)))
    return Translated("".join(pieces), header, dict(sorted(environment.items())), names)


def _begins(found: list[_Found]) -> list[_Found]:
    return [one for one in found if one.pragma.kind == "begin"]


def _parsed(source: str, name: str, directive: Directive) -> Pragma | None:
    try:
        return parse(directive.text) if directive.word == "pragma" else None
    except PragmaError as error:
        if re.match(r"\s*#\s*pragma\s+report\b", directive.text):
            return None  # another compiler's
        raise _error(source, name, directive.begin + error.at, str(error)) from error


def _is_foreign(one: _Found, begun: set[str]) -> bool:
    """A `#pragma report` without cll that names no experiment is not ours."""
    return one.pragma.kind == "report" and one.pragma.name not in begun and " cll " not in one.directive.text


class _Check:
    """Whether pragmas belong together."""

    def __init__(self, source: str, name: str, found: list[_Found], begun: set[str]) -> None:
        self._source, self._name, self._found, self._begun = source, name, found, begun

    def drivers(self) -> dict[str, Driver]:
        """The driver of each experiment. Raises TracelibError."""
        used = {"CLOCK"}
        of: dict[str, Driver] = {}
        ended = {one.pragma.name for one in self._found if one.pragma.kind == "end"}
        for one in self._found:
            pragma = one.pragma
            if pragma.kind == "parallel" and pragma.name not in COMMUNICATION:
                self._fail(one, f"there is no communication driver {pragma.name}: {', '.join(COMMUNICATION)}")
            elif pragma.kind == "uses":
                used.add(self._driver(one).name)
            elif pragma.kind == "begin":
                of[pragma.name] = self._of_experiment(one, used, of)
                if pragma.name not in ended:
                    self._fail(one, f"{pragma.name} has no #pragma cll end {pragma.name}")
            elif pragma.kind in ("end", "report") and pragma.name not in self._begun:
                self._fail(one, f"no experiment {pragma.name} begins in this file")
            if pragma.kind in ("begin", "end"):
                self._check_place(one)
        return of

    def _driver(self, one: _Found) -> Driver:
        try:
            return driver_named(one.pragma.name)
        except LookupError as error:
            self._fail(one, str(error))
            raise

    def _of_experiment(self, one: _Found, used: set[str], of: dict[str, Driver]) -> Driver:
        pragma = one.pragma
        try:
            driver = driver_of(pragma.observable)
        except LookupError as error:
            raise self._at(one, pragma.observable_at, str(error)) from error
        if driver.declared and driver.name not in used:
            raise self._at(one, pragma.observable_at, f"{pragma.observable} needs #pragma cll uses {driver.name}")
        if of.get(pragma.name, driver) is not driver:
            self._fail(one, f"{pragma.name} has another observable already")
        return driver

    def _check_place(self, one: _Found) -> None:
        if one.directive.depth < 1:
            self._fail(one, "an experiment begins and ends inside a function")
        if one.directive.before not in _STATEMENT_MAY_FOLLOW:
            raise self._at(one, 0, "no statement can stand here: put braces around it, or a semicolon before it")

    def _fail(self, one: _Found, message: str) -> None:
        raise self._at(one, one.pragma.at, message)

    def _at(self, one: _Found, at: int, message: str) -> TracelibError:
        return _error(self._source, self._name, one.directive.begin + at, message)


def _error(source: str, name: str, at: int, message: str) -> TracelibError:
    line, column = place(source, at)
    return TracelibError(f"{name}:{line}:{column}: {message}")


def _include_at(every: list[Directive], found: list[_Found]) -> int:
    """After the last #include before the first experiment that is in no function and under no condition, so that what
    the program defines for its own headers holds for ours, too; else before everything."""
    first = min((one.directive.begin for one in found if one.pragma.kind in ("begin", "end")), default=0)
    at = 0
    for one in every:
        if one.begin < first and one.word == "include" and not one.depth and not one.conditions:
            at = one.end + 1
    return at


def _line_ends(source: str, directive: Directive) -> str:
    """A pragma of several lines leaves as many, so that all others keep their numbers."""
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
    """Whether a file is a translation, which may be replaced."""
    return text.startswith(_MADE)
