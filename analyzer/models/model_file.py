"""A model as a JSON file, and as source in C, Python and LaTeX."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.models.averaging import WeightedModel
from analyzer.models.model import Model, formula_code
from analyzer.models.terms.parsing import parse
from analyzer.models.terms.writing import in_c, in_latex, number_in_latex


def c_source(model: Model) -> str:
    """Return a C function that evaluates the selected model at its parameters. It must be linked with -lm."""
    terms = _with_coefficients(model, in_c)
    arguments = ", ".join(f"double {name}" for name in model.parameters)
    body = "\n           + ".join(terms)
    return f"#include <math.h>\n\n/* {model} */\ndouble {_name(model)}({arguments})\n{{\n    return {body};\n}}\n"


def python_source(model: Model) -> str:
    """Return a Python function that evaluates the selected model at its parameters, with the standard library only."""
    arguments = ", ".join(model.parameters)
    formula = formula_code(model.selected)
    return f'import math\n\n\ndef {_name(model)}({arguments}):\n    """{model}"""\n    return {formula}\n'


def latex_source(model: Model) -> str:
    """Return the selected model's formula in LaTeX, with coefficients of four digits."""
    text = ""
    for coefficient, term in zip(model.selected.coefficients, model.selected.terms, strict=True):
        sign = " - " if coefficient < 0 else " + " if text else ""
        number = number_in_latex(abs(float(coefficient)))
        text += sign + (number if term.constant else rf"{number} \, {in_latex(term)}")
    escaped = model.observable.replace("_", r"\_")
    arguments = ", ".join(name.replace("_", r"\_") for name in model.parameters)
    return rf"\mathit{{{escaped}}}({arguments}) = {text}" + "\n"


def _with_coefficients(model: Model, write) -> list[str]:
    pairs = zip(model.selected.coefficients, model.selected.terms, strict=True)
    return [repr(float(c)) if term.constant else f"{float(c)!r} * {write(term)}" for c, term in pairs]


def _name(model: Model) -> str:
    """Return the function's name in C and Python: "model_" and the observable."""
    name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in model.observable)
    return f"model_{name}"


FORMAT = "tracelib-model"
VERSION = 1


def is_model(path: str | os.PathLike[str]) -> bool:
    """Check whether a file looks like a model file, by its first 200 bytes."""
    return names_format(path, FORMAT)


def names_format(path: str | os.PathLike[str], name: str) -> bool:
    """Check whether the first 200 bytes of a JSON file contain a format's name. False for unreadable files."""
    try:
        with Path(path).open("rb") as file:
            return f'"{name}"'.encode() in file.read(200)
    except OSError:
        return False


def model_name(path: str | os.PathLike[str]) -> str:
    """Return a name for a model in tables and pictures: the name of its file without .json and .model."""
    return Path(path).name.removesuffix(".json").removesuffix(".model")


def model_to_data(model: Model) -> dict[str, Any]:
    """Convert a model to the data of a model file."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "observable": model.observable,
        "parameters": list(model.parameters),
        "formula": str(model),
        "criterion": {"name": model.criterion[0], "value": model.criterion[1]},
        "relative": model.relative,
        "ranges": {name: list(ends) for name, ends in model.ranges.items()},
        "cross_validation_error": None if math.isnan(model.cross_validation_error) else model.cross_validation_error,
        "members": [_member_to_data(member) for member in model.members],
        "whole": None if model.whole is None else _member_to_data(model.whole),
    }


def _member_to_data(member: WeightedModel) -> dict[str, Any]:
    return {
        "terms": [str(term) for term in member.terms],
        "coefficients": member.coefficients.tolist(),
        "spread": member.spread.tolist(),
        "sigma": member.sigma if math.isfinite(member.sigma) else None,
        "freedom": member.freedom,
        "weight": member.weight,
    }


def model_text(model: Model) -> bytes:
    """Return the content of a model file."""
    return (json.dumps(model_to_data(model), indent=2) + "\n").encode()


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model from a file.

    Raises:
        TracelibError: The file cannot be read, or is no model.
    """
    try:
        data = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _no_model(path) from error
    return model_of_data(data, path)


def _no_model(path: str | os.PathLike[str]) -> TracelibError:
    return TracelibError(f"{path} is not a model", "models are written by analyze fit -o")


def model_of_data(data: Any, path: str | os.PathLike[str]) -> Model:
    """Convert data, as `model_to_data` returns them, to a model.

    Args:
        data: The data.
        path: Name of the file, for errors.

    Raises:
        TracelibError: The data are no model of this version.
    """
    try:
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise TracelibError(f"{path} is not a model of this version", "fit again")
        members = tuple(_member(of) for of in data["members"])
        whole = None if data.get("whole") is None else _member(data["whole"])  # models of before have none
        every = members if whole is None else (*members, whole)
        names = set().union(*(term.names() for member in every for term in member.terms))
        if not members or not names <= set(data["parameters"]):
            raise ValueError("no members, or other parameters")
        error = data["cross_validation_error"]
        return Model(
            str(data["observable"]), tuple(map(str, data["parameters"])), members,
            (str(data["criterion"]["name"]), float(data["criterion"]["value"])), bool(data["relative"]),
            {name: (float(low), float(high)) for name, (low, high) in data["ranges"].items()},
            math.nan if error is None else float(error), whole=whole,
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _no_model(path) from error


def _member(data: dict[str, Any]) -> WeightedModel:
    coefficients, spread = np.array(data["coefficients"], float), np.array(data["spread"], float)
    terms = tuple(parse(text) for text in data["terms"])
    if coefficients.shape != (len(terms),) or spread.shape[1:] != (len(terms),):
        raise ValueError("coefficients of other terms")
    sigma = data["sigma"]
    return WeightedModel(
        terms, coefficients, spread, math.inf if sigma is None else float(sigma), int(data["freedom"]),
        float(data["weight"]),
    )  # fmt: skip
