"""Products as expressions in C, Python and LaTeX."""

from __future__ import annotations

from fractions import Fraction

from analyzer.models.terms.product import Atom, ParameterName, Product, ProductSum

_C_NAMES = {"min": "fmin", "max": "fmax"}
_PYTHON_NAMES = {"log2": "math.log2", "ceil": "math.ceil", "floor": "math.floor"}
_LATEX_BRACKETS = {"ceil": (r"\lceil ", r" \rceil"), "floor": (r"\lfloor ", r" \rfloor")}


def in_c(product: Product) -> str:
    """Return a product as a C expression of type double. It needs math.h, and variables with the parameters' names."""
    return _code(product, c=True)


def in_python(product: Product) -> str:
    """Return a product as a Python expression. It needs the module math, and variables with the parameters' names."""
    return _code(product, c=False)


def _code(product: Product, c: bool) -> str:
    parts = [_code_power(atom, power, c) for atom, power in product.powers]
    if product.factor != 1 or not parts:
        parts.insert(0, repr(float(product.factor)))
    return " * ".join(parts)


def _code_power(atom: Atom, power: Fraction, c: bool) -> str:
    base = _code_atom(atom, c)
    if power.denominator == 1 and 1 <= power <= 4:
        return " * ".join([base] * int(power))
    if power == -1:
        return f"(1.0 / {base})"
    exponent = f"{power.numerator}.0" if power.denominator == 1 else f"({power.numerator}.0 / {power.denominator}.0)"
    return f"pow({base}, {exponent})" if c else f"float({base}) ** {_exponent(exponent)}"


def _exponent(text: str) -> str:
    return text if text.startswith("(") else f"({text})"


def _code_atom(atom: Atom, c: bool) -> str:
    if isinstance(atom, ParameterName):
        return atom.name
    if isinstance(atom, ProductSum):
        return "(" + " + ".join(_code(part, c) for part in atom.parts) + ")"
    names = _C_NAMES if c else _PYTHON_NAMES
    inside = ", ".join(_code(argument, c) for argument in atom.arguments)
    return f"{names.get(atom.function, atom.function)}({inside})"


def in_latex(product: Product) -> str:
    """Return a product as a LaTeX formula, without dollar signs."""
    above = [_latex_power(a, e) for a, e in product.powers if e > 0]
    below = [_latex_power(a, -e) for a, e in product.powers if e < 0]
    if product.factor != 1 or not above:
        above.insert(0, number_in_latex(product.factor))
    top, bottom = r" \, ".join(above), r" \, ".join(below)
    return rf"\frac{{{top}}}{{{bottom}}}" if below else top


def number_in_latex(value: float) -> str:
    """Return a number in LaTeX with four digits."""
    text = f"{value:.4g}"
    if "e" not in text:
        return text
    digits, exponent = text.split("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}"


def _latex_power(atom: Atom, power: Fraction) -> str:
    base = _latex_atom(atom)
    if power == 1:
        return base
    return rf"{{{base}}}^{{{power.numerator if power.denominator == 1 else power}}}"


def _latex_atom(atom: Atom) -> str:
    if isinstance(atom, ParameterName):
        name = atom.name.replace("_", r"\_")
        return name if len(atom.name) == 1 else rf"\mathit{{{name}}}"
    if isinstance(atom, ProductSum):
        return r"\left(" + " + ".join(in_latex(part) for part in atom.parts) + r"\right)"
    inside = ", ".join(in_latex(argument) for argument in atom.arguments)
    if atom.function in _LATEX_BRACKETS:
        left, right = _LATEX_BRACKETS[atom.function]
        return left + inside + right
    name = r"\log_2" if atom.function == "log2" else rf"\{atom.function}"
    return rf"{name}\left({inside}\right)"
