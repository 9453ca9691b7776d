"""The list of public names of the Python interface, with their signatures: docs/public.txt.

PYTHONPATH=. python tests/support/public_names.py     writes it
"""

import dataclasses
import importlib
import inspect
import pkgutil
from pathlib import Path

import analyzer
import analyzer.results
from analyzer.interface.choices import MachineOptions, ScalingOptions
from analyzer.interface.frames import TableOptions
from analyzer.results.result import Result

BASE = ("to_dict(", "print(", "to_pandas(", "table_names ")
LIST = Path(__file__).resolve().parents[2] / "docs" / "public.txt"


def results():
    """Return the classes of results, by name."""
    for module in pkgutil.iter_modules(analyzer.results.__path__):
        importlib.import_module(f"analyzer.results.{module.name}")
    return sorted(Result.__subclasses__(), key=lambda one: one.__name__)


def signature(function):
    text = str(inspect.signature(inspect.unwrap(function), eval_str=False))
    return text.replace("'", "").replace("self, ", "").replace("(self)", "()")


def members(kind):
    """Yield a line for each public attribute of a class."""
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        if name.startswith("_"):
            continue
        if isinstance(value, property):
            yield f"    {name} -> {inspect.signature(value.fget).return_annotation}"
        elif inspect.isfunction(value):
            yield f"    {name}{signature(value)}"
        elif hasattr(value, "func"):
            yield f"    {name} -> {inspect.signature(value.func).return_annotation}"


def lines():
    """Yield the lines of the list."""
    for name in analyzer.__all__:
        value = getattr(analyzer, name)
        if inspect.isfunction(value):
            yield f"analyzer.{name}{signature(value)}"
        else:
            yield f"analyzer.{name}"
        if name in ("Run", "Tables"):
            yield from members(value)
    for options in (MachineOptions, ScalingOptions, TableOptions):
        yield options.__name__
        yield from (f"    {name}: {kind.__forward_arg__}" for name, kind in options.__annotations__.items())
    yield "Result"
    yield from members(Result)
    for kind in results():
        yield f"{kind.__module__}.{kind.__name__}(Result)"
        yield from (f"    {field.name}: {field.type}" for field in dataclasses.fields(kind) if field.name[0] != "_")
        yield from (line for line in members(kind) if not line.strip().startswith(BASE))


def text():
    return "".join(f"{line}\n" for line in lines())


if __name__ == "__main__":
    LIST.write_text(text())
