"""A model's formula as source text."""

from __future__ import annotations

from analyzer.models.model import Model, formula_code
from analyzer.models.terms.writing import in_c, in_latex, number_in_latex


def c_source(model: Model) -> str:
    """A C function of the parameters; links with -lm."""
    terms = _with_coefficients(model, in_c)
    arguments = ", ".join(f"double {name}" for name in model.parameters)
    body = "\n           + ".join(terms)
    return f"#include <math.h>\n\n/* {model} */\ndouble {_name(model)}({arguments})\n{{\n    return {body};\n}}\n"


def python_source(model: Model) -> str:
    """A Python function of the parameters; needs nothing but the standard library."""
    arguments = ", ".join(model.parameters)
    formula = formula_code(model.selected)
    return f'import math\n\n\ndef {_name(model)}({arguments}):\n    """{model}"""\n    return {formula}\n'


def latex_source(model: Model) -> str:
    """A formula for a paper."""
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
    """The observable as a name of C and Python."""
    name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in model.observable)
    return f"model_{name}"
