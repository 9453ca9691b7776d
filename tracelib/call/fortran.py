"""Puts calls of the module `tracelib` where the pragmas of a Fortran source stand, as `!$cll` lines.

    !$cll parallel MPI
    !$cll solve CLOCK=solve[0]*n*log(n)
    ...
    !$cll end solve

The pragmas are the same as in C (`pragmas`), in Fortran's sentinel and with Fortran's expressions: `v(i)`, `grid%n`,
`n**2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap

from tracelib.call.experiments import PlacedPragma, PragmaCheck, error_at, names
from tracelib.call.pragmas import Pragma, PragmaError, parse
from tracelib.call.scan import Directive
from tracelib.call.translate import TranslatedProgram
from tracelib.errors import TracelibError

FREE = (".f90", ".F90", ".f95", ".F95", ".f03", ".F03", ".f08", ".F08")
FIXED = (".f", ".F", ".for", ".FOR", ".ftn", ".f77")
MADE = "! Made by tracelib call."
_GOES_ON = r"&[ \t]*(?:![^\n]*)?\n[ \t]*!\$cll\b"
_FREE_LINE = re.compile(rf"^[ \t]*!\$cll\b(?:[^\n!]*{_GOES_ON})*[^\n]*", re.IGNORECASE | re.MULTILINE)
_FIXED_LINE = re.compile(r"^[!cC*]\$cll\b[^\n]*", re.IGNORECASE | re.MULTILINE)
_CONTINUED = re.compile(rf"{_GOES_ON}[ \t]*&?", re.IGNORECASE)
_SENTINEL = re.compile(r"^[ \t]*[!cC*]\$cll\b", re.IGNORECASE)
_LONGEST, _FIXED_COLUMNS = 132, 66  # of a line of free form; of the statement's part of a line of fixed form
_FUNCTIONS = frozenset((
    "abs", "acos", "aint", "anint", "asin", "atan", "atan2", "ceiling", "cos", "cosh", "dble", "dim", "exp", "float",
    "floor", "gamma", "int", "ishft", "lbound", "log", "log10", "max", "min", "mod", "modulo", "nint", "real", "sign",
    "sin", "sinh", "size", "sqrt", "tan", "tanh", "ubound",
))  # fmt: skip
"""Intrinsic functions. Their arguments are recorded. Any other name with parentheses is an element of an array."""


def translate_fortran(source: str, name: str, *, fixed: bool) -> TranslatedProgram:
    """Translate a Fortran source, which needs no header.

    Args:
        source: Its text.
        name: What messages shall call it.
        fixed: It is in fixed form.

    Raises:
        TracelibError: A pragma is wrong; with line and column.
    """
    found = list(_pragmas(source, name, fixed))
    begun = {one.pragma.name for one in found if one.pragma.kind == "begin"}
    drivers = PragmaCheck(source, name, found, begun).drivers()
    for one in found:
        if one.pragma.kind == "begin" and drivers.of[one.pragma.name].moments:
            driver = drivers.of[one.pragma.name].name
            message = f"{driver} is asked while the program runs, which only translated C and C++ can do"
            raise error_at(source, name, one.directive.begin, message)
    pieces, at = list[str](), 0
    for one in found:
        pieces += [source[at : one.directive.begin], _statement(one.pragma, fixed)]
        pieces.append("\n" * source.count("\n", one.directive.begin, one.directive.end))
        at = one.directive.end
    end = "" if source.endswith("\n") or not source else "\n"
    pieces += [source[at:], end, MADE, "\n"]  # at the end: all lines keep their numbers
    return TranslatedProgram("".join(pieces), "", drivers.environment(found), names(found), drivers.advice)


def is_made(text: str) -> bool:
    """Return True if a file is a translation, which may be replaced."""
    return text.rstrip().endswith(MADE)


def _pragmas(source: str, name: str, fixed: bool) -> Iterator[PlacedPragma]:
    """Yield every `!$cll` with the pragma that it is."""
    for line in (_FIXED_LINE if fixed else _FREE_LINE).finditer(source):
        written = _CONTINUED.sub(lambda part: " " * len(part[0]), line[0])
        sentinel = _SENTINEL.match(written)
        assert sentinel
        as_c = "#pragma cll".rjust(sentinel.end())
        shift = len(as_c) - sentinel.end()
        said = as_c + _without_comment(written[sentinel.end() :])
        directive = Directive(line.start(), line.end(), said, 1, 0, ";")
        try:
            pragma = parse(_as_c(said, len(as_c)), said)
        except PragmaError as error:
            raise _wrong(source, name, directive, error, shift) from error
        if pragma:
            here = replace(pragma, at=pragma.at - shift, observable_at=pragma.observable_at - shift)
            yield PlacedPragma(here, directive)


def _wrong(source: str, name: str, directive: Directive, error: PragmaError, shift: int) -> TracelibError:
    at = min(max(error.at - shift, 0), directive.end - directive.begin)
    return error_at(source, name, directive.begin + at, str(error))


def _without_comment(text: str) -> str:
    return re.sub(r"!.*", lambda comment: " " * len(comment[0]), text)


def _as_c(text: str, begin: int) -> str:
    """Return the expression with C's signs, each as long as Fortran's: elements in brackets, members behind a dot, and
    powers as products, for only the variables matter."""
    signs = list(text)
    for power in re.finditer(r"\*\*", text):
        signs[power.end() - 1] = " "
    for member in re.finditer(r"%", text[begin:]):
        signs[begin + member.start()] = "."
    open_brackets: list[bool] = []  # whether each parenthesis that is open is that of an element
    for place in range(begin, len(text)):
        if text[place] == "(":
            before = re.search(r"(\w+)\s*$", text[:place])
            element = bool(before) and str(before[1]).lower() not in _FUNCTIONS if before else False
            open_brackets.append(element)
            signs[place] = "[" if element else "("
        elif text[place] == ")" and open_brackets:
            signs[place] = "]" if open_brackets.pop() else ")"
        elif text[place] == "," and open_brackets and open_brackets[-1]:
            signs[place] = "+"
    return "".join(signs)


def _statement(pragma: Pragma, fixed: bool) -> str:
    """Return the statement that replaces a pragma: a block, which uses the module, so that program units need not."""
    if pragma.kind not in ("begin", "end"):
        return ""
    calls = [f"call tracelib_region_{pragma.kind}({_quoted(pragma.name)})"]
    calls += [f"call tracelib_region_parameter({_quoted(v)}, {v})" for v in pragma.variables]
    statements = ["block", "use tracelib", *calls, "end block"]
    if fixed:
        return "\n".join(_fixed(statement) for statement in statements)
    line = "; ".join(statements)
    return line if len(line) <= _LONGEST else "; &\n".join(_free(statement) for statement in statements)


def _free(statement: str) -> str:
    """Write a statement of any length: a name that goes on begins with & on its new line."""
    return "&\n&".join(wrap(statement, _LONGEST - 8, drop_whitespace=False, break_on_hyphens=False))


def _fixed(statement: str) -> str:
    """Write a statement behind column 6, continued if it is longer."""
    parts = [statement[at : at + _FIXED_COLUMNS] for at in range(0, len(statement), _FIXED_COLUMNS)]
    return "\n     &".join(["      " + parts[0], *parts[1:]])


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
