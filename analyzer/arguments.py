"""Checks of the arguments of public functions against their annotations. A wrong argument raises a TracelibError."""

from __future__ import annotations

import inspect
import math
import os
import reprlib
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from numbers import Integral, Real
from typing import Annotated, Any, ParamSpec, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

from analyzer.errors import TracelibError

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)

_ENDLESS = 1e9
"""Limits of at least this size only guard against overflows, and are not shown to the user."""


@dataclass(frozen=True)
class Range:
    """Allowed range of a number, for use in `Annotated`.

    Attributes:
        least: Smallest value.
        most: Largest value.
        is_open: Whether `least` and `most` themselves are outside of the range.
    """

    least: float = -math.inf
    most: float = math.inf
    is_open: bool = False

    def holds(self, value: float) -> bool:
        """Return True if a value is in the range."""
        return self.least < value < self.most if self.is_open else self.least <= value <= self.most

    def __str__(self) -> str:
        if self.most >= _ENDLESS:
            return f"above {self.least:g}" if self.is_open else f"from {self.least:g} on"
        return f"between {self.least:g} and {self.most:g}" if self.is_open else f"from {self.least:g} to {self.most:g}"


Count = Annotated[int, Range(1, 2**31)]
"""Whole number of at least 1."""
Natural = Annotated[int, Range(0, 2**31)]
"""Whole number of at least 0."""
Share = Annotated[float, Range(0, 1, is_open=True)]
"""Number between 0 and 1, both exclusive."""
Seconds = Annotated[float, Range(0, 1e9)]
"""Time in seconds, at least 0."""
Factor = Annotated[float, Range(0, 1e300)]
"""Number of at least 0."""


class _Unfit(Exception):
    """Exception for a value that an annotation does not allow."""


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function so that its arguments are checked and converted by their annotations.

    Numbers of numpy become numbers of Python, and sequences become tuples or lists. `help` shows the options of a
    TypedDict
    (`**options: Unpack[...]`) as parameters.
    """
    signature = inspect.signature(function)
    options = _options(function)

    @wraps(function)
    def with_checks(*args: P.args, **kwargs: P.kwargs) -> T:
        kinds = _parameters(function)
        unknown = [name for name in kwargs if name not in kinds and name not in options]
        if unknown:
            known = ", ".join([name for name in kinds if name in signature.parameters] + list(options))
            raise TracelibError(f"{_named(function)} has no parameter {unknown[0]!r}", f"it has {known}" * bool(known))
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:  # arguments are missing or too many: Python's own message names the function
            return function(*args, **kwargs)
        for name, value in bound.arguments.items():
            if name in kinds:
                bound.arguments[name] = fitted(name, value, kinds[name])
            elif options and isinstance(value, dict):
                bound.arguments[name] = {one: fitted(one, given, options[one]) for one, given in value.items()}
        return function(*bound.args, **bound.kwargs)

    if options:
        fixed = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=..., annotation=kind)
            for name, kind in options.items()
        ]
        with_checks.__signature__ = signature.replace(parameters=[*fixed, *more])  # type: ignore[attr-defined]
    return with_checks


def checks_arguments(kind: C) -> C:
    """Decorate a class: the arguments of its public methods and its constructor are checked as by `checked`."""
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, checked(method))
    return kind


def fitted(name: str, value: Any, kind: Any) -> Any:
    """Convert a value to a type of an annotation.

    Args:
        name: Name of the argument, for the error.
        value: The argument.
        kind: Annotation: a class, a union, `Annotated` with a `Range`, or a list or a dict of these.

    Raises:
        TracelibError: The value does not fit the annotation.
    """
    try:
        return _fit(value, kind)
    except _Unfit:
        raise TracelibError(f"{name}={shown(value)} is not {' or '.join(_described(kind))}") from None


def shown(value: Any) -> str:
    """Return a value as Python would write it, in one line. Long values are cut."""
    try:
        return " ".join(reprlib.repr(value).split())
    except Exception:  # a class of the user's
        return f"an object of {type(value).__name__}"


@cache
def _parameters(function: Callable) -> dict[str, Any]:
    """Return the annotations of the parameters that are neither *args nor **options, with names resolved."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    fixed = [name for name, one in inspect.signature(function).parameters.items() if one.kind not in variadic]
    return _resolved(function, fixed)


def _options(function: Callable) -> dict[str, Any]:
    """Return the annotations of the TypedDict that a function unpacks as **options. Empty: there is none."""
    parameters = inspect.signature(function).parameters.items()
    named = [name for name, one in parameters if one.kind is inspect.Parameter.VAR_KEYWORD]
    found = [get_args(kind)[0] for kind in _resolved(function, named).values() if get_origin(kind) is Unpack]
    return get_type_hints(found[0], include_extras=True) if found else {}


def _resolved(function: Callable, names: Iterable[str]) -> dict[str, Any]:
    """Return the annotations of some parameters.

    Annotations of other parameters may name types that are not imported.
    """
    holder = types.SimpleNamespace(__annotations__={
        name: text for name, text in function.__annotations__.items() if name in names
    })  # fmt: skip
    return get_type_hints(holder, vars(inspect.getmodule(function)), include_extras=True)


def _named(function: Callable) -> str:
    """Return a function's name; a constructor has the name of its class."""
    path = function.__qualname__.split(".")
    return path[-2] if path[-1] == "__init__" else path[-1]


def _fit(value: Any, kind: Any) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        found = _fit(value, arguments[0])
        if not all(limit.holds(found) for limit in arguments[1:] if isinstance(limit, Range)):
            raise _Unfit
        return found
    if origin in (Union, types.UnionType):
        return _fit_one(value, arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _fit_mapping(value, *arguments)
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _fit_several(value, origin, arguments[0])
    if origin is os.PathLike or kind is os.PathLike:
        return _fit_path(value)
    return _fit_single(value, kind)


def _fit_one(value: Any, kinds: Sequence[Any]) -> Any:
    for kind in kinds:
        try:
            return _fit(value, kind)
        except _Unfit:
            continue
    raise _Unfit


def _fit_mapping(value: Any, key: Any, item: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _Unfit
    return {_fit(name, key): _fit(one, item) for name, one in value.items()}


def _fit_several(value: Any, origin: type, item: Any) -> Any:
    """Convert a list. Texts and mappings do not count as lists."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise _Unfit
    found = [_fit(one, item) for one in value]
    return tuple(found) if origin is tuple else found


def _fit_path(value: Any) -> Any:
    if not isinstance(value, os.PathLike):
        raise _Unfit
    _fit_single(os.fspath(value), str)
    return value


def _fit_single(value: Any, kind: Any) -> Any:
    if kind is Any:
        return value
    if kind is bool:
        if not isinstance(value, bool) and type(value).__name__ not in ("bool_", "bool"):
            raise _Unfit
        return bool(value)
    if kind is int:
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise _Unfit
        return int(value)
    if kind is float:
        return _fit_number(value)
    if kind is str and isinstance(value, str) and "\0" in value:
        raise _Unfit
    if not isinstance(value, kind or type(None)):
        raise _Unfit
    return value


def _fit_number(value: Any) -> float:
    """Convert a number that is not NaN. Whole numbers stay whole."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _Unfit
    if isinstance(value, Integral):
        return int(value) if abs(int(value)) < 2**1000 else math.inf
    if math.isnan(value):
        raise _Unfit
    return float(value)


def _described(kind: Any) -> list[str]:
    """Describe in words what an annotation allows; one entry for each alternative."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        limits = " ".join(str(one) for one in arguments[1:])
        return [f"{_described(arguments[0])[0]} {limits}".strip()]
    if origin in (Union, types.UnionType):
        given = [one for one in arguments if one is not type(None)]  # None is the default, and not worth a word
        return list(dict.fromkeys(text for one in given for text in _described(one)))
    if origin is os.PathLike:
        return ["a path"]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return [f"a dict, each value {' or '.join(_described(arguments[1]))}"]
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return [f"a list, each entry {' or '.join(_described(arguments[0]))}"]
    words = {bool: "True or False", int: "a whole number", float: "a number", str: "text", type(None): "None"}
    return [words.get(kind) or f"a {kind.__name__}"]
