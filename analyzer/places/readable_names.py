"""Readable names of functions, made from the symbol names of compilers, and short names of source files.

A short file name is the last part of the path, with as many folders as are needed to tell two files apart.
"""

from __future__ import annotations

import ctypes
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection
from functools import cache, lru_cache

from tracelib.schema.procedures import DECODED

_COPY = re.compile(r"(\.(cold|constprop|isra|part|lto_priv|localalias|llvm)(\.\d+)*)+$")
"""Suffixes that compilers append to the name of a copied or split function."""
_NUMBERED = re.compile(r"(?<!_omp_fn)\.\d+$")
"""Number of a contained Fortran procedure.

The number of an OpenMP region is excluded, because it identifies the region.
"""
_FORTRAN_SUFFIX = re.compile(r"\.(f|for|ftn|f\d\d|fpp)$", re.IGNORECASE)
_EXTERNAL = re.compile(r"[a-z][a-z0-9_]*_")
_FORTRAN_BINDING = re.compile(r"(p?)(mpi_\w+?)(_f08(ts)?)?(_{1,2})?", re.IGNORECASE)
_BY_LOWER_CASE = {name.lower(): name for name in DECODED}
_PROGRAM = frozenset({"MAIN__", "MAIN_", "_QQmain"})
_MOST_CHARACTERS = 1 << 13
"""Length of a name above which it is not demangled."""


@lru_cache(maxsize=1 << 16)
def is_fortran(file: str) -> bool:
    """Return True if the extension of a source file is one of Fortran."""
    return bool(_FORTRAN_SUFFIX.search(file))


@lru_cache(maxsize=1 << 16)
def readable(name: str, fortran: bool | None = None) -> str:
    """Return a function's name as in the source: `module::name` in Fortran, with arguments in C++.

    Args:
        name: Name of the symbol.
        fortran: Whether the source is Fortran. None: not known.

    Returns:
        The readable name. The main program of Fortran is "program".
    """
    if name in _PROGRAM:
        return "program"
    name = _COPY.sub("", name)
    if name.startswith(("_Z", "_R")):
        return _demangled(name)
    if found := fortran_binding(name, fortran):
        return found
    name = _NUMBERED.sub("", name)
    if found := _of_module(name):
        return found
    if fortran or (fortran is None and _EXTERNAL.fullmatch(name)):
        return name.rstrip("_") or name
    return name


def fortran_binding(symbol: str, fortran: bool | None = None) -> str:
    """Return the MPI procedure for which a symbol is the Fortran binding, such as "MPI_Send" for `mpi_send_`.

    `mpi_send_f08_` is one too, and `mpi_send` in a Fortran file.

    Args:
        symbol: Name of the symbol.
        fortran: Whether the source is Fortran. None: not known.

    Returns:
        Name of the procedure. "": the symbol is not a binding, e.g. a C function called `mpi_send`.
    """
    found = _FORTRAN_BINDING.fullmatch(symbol)
    if not found or not (fortran or found[5]):
        return ""
    name = _BY_LOWER_CASE.get(found[2].lower(), "")
    return found[1].upper() + name if name else ""


def _of_module(name: str) -> str:
    """Return `module::name` for a symbol of gfortran, ifort, ifx or flang.

    "": it is no procedure of a Fortran module.
    """
    if found := re.fullmatch(r"__(\w+?)_MOD_(\w+)", name) or re.fullmatch(r"([a-z]\w*?)_mp_(\w+?)_", name):
        return f"{found[1]}::{found[2]}"
    if found := re.fullmatch(r"_Q(?:M([a-z0-9_]+))?(?:S[a-z0-9_]+)*(?:F[a-z0-9_]*)*P([a-z0-9_]+)", name):
        return f"{found[1]}::{found[2]}" if found[1] else found[2]
    return ""


@cache
def _demangler() -> Callable[[bytes], bytes | None] | None:
    """Return the demangling function of libstdc++, which scipy needs too. None: the library is missing."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return None
    demangle.restype, demangle.argtypes = ctypes.c_void_p, [ctypes.c_char_p] + [ctypes.c_void_p] * 3
    free.restype, free.argtypes = None, [ctypes.c_void_p]

    def demangled(name: bytes) -> bytes | None:
        text = demangle(name, None, None, None)
        try:
            return ctypes.string_at(text) if text else None
        finally:
            free(text)

    return demangled


def _demangled(name: str) -> str:
    demangle = _demangler()
    found = demangle(name.encode()) if demangle and len(name) <= _MOST_CHARACTERS else None
    return found.decode("utf-8", "replace") if found else name


_OPERATOR = re.compile(r"\boperator\s?(\(\)|<=>|<<=|>>=|<<|>>|<=|>=|->\*|->|<|>)")
_HIDDEN = str.maketrans("()<>", "\ue000\ue001\ue002\ue003")
_SHOWN = str.maketrans("\ue000\ue001\ue002\ue003", "()<>")
_QUALIFIERS = re.compile(r"(\s+(const|volatile|noexcept|&&?|\[[^\]]*\]))+(?=::|$)|\s+$")
_RESULT = re.compile(r"^.* (?=\S*$)")


@lru_cache(maxsize=1 << 16)
def without_arguments(name: str) -> str:
    """Remove arguments, template arguments and the return type from a readable name: `phys::Field::each`.

    A lambda keeps its number: `main::{lambda#1}`.
    """
    if not any(sign in name for sign in "(<"):
        return name
    text = name.replace("(anonymous namespace)::", "")
    text = _OPERATOR.sub(lambda found: found[0].replace(" ", "").translate(_HIDDEN), text)
    text = _without_brackets(text)
    text = _QUALIFIERS.sub("", text)
    if "operator " not in text:  # a conversion: operator double
        text = _RESULT.sub("", text)
    text = re.sub(r"(\{lambda#\d+\})::operator\ue000\ue001", r"\1", text)
    return text.translate(_SHOWN) or name


def _without_brackets(text: str) -> str:
    """Remove everything in (...) and <...> from a name."""
    kept, depth = [], 0
    for sign in text:
        if sign in "(<":
            depth += 1
        elif sign in ")>":
            depth = max(depth - 1, 0)
        elif not depth:
            kept.append(sign)
    return "".join(kept)


def short_files(files: Collection[str]) -> dict[str, str]:
    """Return a short name for each file: `exchange.c`, or `left/exchange.c` if there is also `right/exchange.c`."""
    parts = {file: tuple(part for part in posixpath.normpath(file).split("/") if part) for file in files if file}
    short = {file: file for file in files}
    members, length = list(parts), 1
    while members:
        by_name: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for file in members:
            by_name[parts[file][-length:]].append(file)
        members, length = [], length + 1
        for name, same in by_name.items():
            if len({parts[file] for file in same}) == 1:
                short.update(dict.fromkeys(same, "/".join(name)))
            else:
                members += same
    return short
