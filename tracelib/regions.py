"""Regions and events of a Python program for its trace (docs/regions.md).

If libtrace.so is not loaded, all functions do nothing and return within a fraction of a microsecond.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from operator import index
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_NAMES = 1 << 16
"""Largest number of encoded names that are kept, as many as the library itself recognizes by their address."""


class _Library:
    """The functions of tracelib.h by name. Names are given as bytes and their length."""

    def __init__(self) -> None:
        from tracelib._functions import ffi

        try:
            self.table = ffi.dlopen(None).tracelib_functions
        except ffi.error as error:
            raise LookupError("libtrace.so is not loaded") from error
        if self.table.bytes < ffi.sizeof("struct tracelib_functions"):
            raise LookupError("an older libtrace.so is loaded")
        self._names: dict[str, tuple[bytes, int]] = {}

    def name(self, name: str) -> tuple[bytes, int]:
        """Return a name as the functions take it."""
        known = self._names.get(name)
        if known is None:
            text = str(name).encode(errors="surrogateescape")
            known = text, len(text)
            if len(self._names) < MOST_NAMES:
                self._names[name] = known
        return known


_library: _Library | None = None
_looked = False


def _find() -> _Library | None:
    """Return the library if it is loaded into this process. It is looked up only once."""
    global _library, _looked
    if not _looked:
        try:
            _library = _Library()
        except ImportError as error:
            _library = None
            if "libtrace" in os.environ.get("LD_PRELOAD", ""):
                print(f"tracelib: regions of this Python program are not recorded: {error}", file=sys.stderr)
        except (LookupError, OSError):
            _library = None
        _looked = True
    return _library


class _Untraced:
    """Region of a process that is not traced. It records nothing."""

    __slots__ = ()

    def __enter__(self) -> _Untraced:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __call__(self, function: Function) -> Function:
        return function


class _Region:
    """A region that is recorded, as a context manager or a decorator; one object serves any number of threads."""

    __slots__ = ("_begin", "_end", "_library", "_name", "_parameters")

    def __init__(self, library: _Library, name: str, parameters: dict[str, Any]) -> None:
        self._library, self._parameters = library, parameters
        self._begin, self._end = library.table.region_begin, library.table.region_end
        self._name = library.name(name)

    def __enter__(self) -> _Region:
        self._begin(*self._name)
        for name, value in self._parameters.items():
            _record_parameter(self._library, name, value)
        return self

    def __exit__(self, *error: object) -> None:
        self._end(*self._name)

    def __call__(self, function: Function) -> Function:
        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]


_UNTRACED = _Untraced()
_complained = False


def region(name: str, /, **parameters: float) -> _Region | _Untraced:
    """Mark a region of the program: `with region("solve", n=500): ...`, or `@region("solve")` before a function.

    Regions may be nested, and each thread has its own. Do not use a region around the body of a coroutine: other
    coroutines
    run in between.

    Args:
        name: Name of the region.
        parameters: Integers and real numbers that describe the work, such as its size.
    """
    library = _find() if not _looked else _library
    return _UNTRACED if library is None else _Region(library, name, parameters)


def parameter(name: str, value: float) -> None:
    """Record a parameter of this thread's innermost region: an integer or a real number."""
    library = _find() if not _looked else _library
    if library is not None:
        _record_parameter(library, name, value)


def parallel(threads: int) -> None:
    """Declare that the innermost region stands for this many threads, which could share its computation."""
    library = _find() if not _looked else _library
    if library is not None:
        _record(library.table.region_parallel, threads)


def event(type: int, value: int) -> None:
    """Record an event of this thread at this moment.

    Args:
        type: Type of the event. Types from 40000000 to 69999999 belong to the tracer.
        value: Value of the event.
    """
    library = _find() if not _looked else _library
    if library is not None:
        _record(library.table.event, type, value)


def label_type(type: int, name: str) -> None:
    """Give a name to a type of event, for the reports and Paraver."""
    library = _find() if not _looked else _library
    if library is not None:
        _record(library.table.label_type, type, *library.name(name))


def label_value(type: int, value: int, name: str) -> None:
    """Give a name to one value of a type of event, for the reports and Paraver."""
    library = _find() if not _looked else _library
    if library is not None:
        _record(library.table.label_value, type, value, *library.name(name))


def pause() -> None:
    """Stop recording the calls of this process, in all threads. Regions and events are still recorded."""
    library = _find() if not _looked else _library
    if library is not None:
        library.table.pause()


def resume() -> None:
    """Resume recording the calls of this process, after `pause`."""
    library = _find() if not _looked else _library
    if library is not None:
        library.table.resume()


def _record(function: Callable[..., None], *arguments: Any) -> None:
    """Call the library, but never fail in the traced program: what is not a number is left out, with one message."""
    global _complained
    try:
        function(*arguments)
    except (TypeError, ValueError, OverflowError) as error:
        if not _complained:
            print(f"tracelib: an event or a parameter of a region was left out: {error}", file=sys.stderr)
        _complained = True


def _record_parameter(library: _Library, name: str, value: Any) -> None:
    """Record an integer as an integer, any other value as a real number."""
    try:
        library.table.region_parameter_integer(*library.name(name), index(value))
    except (TypeError, OverflowError):
        _record(lambda: library.table.region_parameter(*library.name(name), float(value)))
