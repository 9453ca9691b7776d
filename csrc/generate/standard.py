"""The MPI standard's procedures as the wrappers need them, read from `pympistandard`."""

import re
from dataclasses import dataclass

import pympistandard


@dataclass(frozen=True)
class Parameter:
    """One argument: its C type without `const` ("MPI_Comm*", "int[]") and its name."""

    type: str
    name: str


@dataclass(frozen=True)
class Procedure:
    """A procedure and the forms in which programs call it."""

    name: str  # MPI_Send
    returns: str  # C type
    parameters: tuple[Parameter, ...]
    large: tuple[Parameter, ...] | None  # of MPI_Send_c
    fortran: tuple[str, ...] | None  # argument names, lower case, with ierror; None: not in Fortran
    hidden_lengths: int  # CHARACTER arguments, whose lengths Fortran appends

    @property
    def returns_error(self) -> bool:
        """Whether the C form returns an error code; the int of MPI_X_toint is the handle's number."""
        return self.returns == "int" and not self.name.endswith("_toint")


def _parameter(text: str) -> Parameter | None:
    text = text.replace("const ", "").strip()
    match = re.fullmatch(r"(.+?)\s*\b(\w+)((?:\[\d*\])*)", text)
    if text in ("void", "\\ldots") or not match:
        return None
    return Parameter(match[1].replace(" ", "") + "[]" * bool(match[3]), match[2])


def _c_parameters(signature: str) -> tuple[Parameter, ...]:
    inside = signature[signature.index("(") + 1 : signature.rindex(")")]
    return tuple(p for p in map(_parameter, inside.split(",")) if p)


def _fortran(procedure) -> tuple[tuple[str, ...] | None, int]:
    expression = procedure.express.f90
    if expression is None:
        return None, 0
    head, *declarations = str(expression).splitlines()
    inside = head[head.rindex("(") + 1 : head.rindex(")")]  # behind a function's INTEGER(KIND=...) too
    names = tuple(n.strip().lower() for n in inside.split(",") if n.strip())
    hidden = 0
    for line in declarations:
        if "CHARACTER" in line:
            hidden += len(re.sub(r"\([^()]*\)", "", line.split("CHARACTER*(*)")[-1].split("::")[-1]).split(","))
    return names, hidden


def procedures() -> list[Procedure]:
    """Return all procedures with a C form, by name; predefined callbacks are none."""
    pympistandard.use_api_version(1, force_bundled=True)
    found = []
    for entry in pympistandard.PROCEDURES.values():
        c = entry.express.iso_c
        if c is None:
            continue
        signature = str(c)
        returns, name = re.match(r"(\w+)\s+(\w+)\(", signature).groups()
        if re.fullmatch(r"MPI_(COMM|TYPE|WIN|CONVERSION)_\w*(FN|NULL|DUP)\w*", name) or not name.startswith("MPI_"):
            continue
        large = _c_parameters(str(entry.express.embiggen.iso_c)) if entry.has_embiggenment() else None
        fortran, hidden = _fortran(entry)
        found.append(Procedure(name, returns, _c_parameters(signature), large, fortran, hidden))
    return sorted(found, key=lambda p: p.name.lower())
