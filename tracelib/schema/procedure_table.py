"""Reader of procedures.toml, the one table of what MPI procedures and events are. Imports nothing of the package.

The generators of C (csrc/generate) load this file by its path, before the package is built.
"""

import re
import tomllib
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("procedures.toml")


@dataclass(frozen=True)
class CallClass:
    """Class of procedures that `--calls` and TRACELIB_CALLS select."""

    name: str
    meaning: str = ""  # "": always recorded
    pattern: str = ""  # procedures whose kind states no class
    requests: tuple[str, ...] = ()  # members of What


@dataclass(frozen=True)
class Section:
    """Section of docs/mpi-coverage.md."""

    title: str
    decoded: str


@dataclass(frozen=True)
class CallKind:
    """Kind of procedures: those that one function of csrc/generate/bodies decodes. Names have no prefix MPI_."""

    name: str
    call_class: str = ""  # "": by the patterns of the classes
    roles: tuple[str, ...] = ()
    section: str = ""
    header: str = ""
    families: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unlisted: dict[str, str] = field(default_factory=dict)  # procedure -> reason
    form_of: str = ""
    named: str = ""
    pattern: str = ""
    details: dict[str, Any] = field(default_factory=dict)  # for the function that decodes: moves, flavors

    @property
    def procedures(self) -> tuple[str, ...]:
        """Procedures that the table names, in its order."""
        return (*(name for names in self.families.values() for name in names), *self.unlisted)

    def form_name(self, name: str) -> str:
        """Name of the form of another kind's procedure: "Ibarrier" of "Barrier"."""
        before, _, after = self.named.partition("*")
        return f"{before}{name.lower() if before else name}{after}"


@dataclass(frozen=True)
class ProcedureTable:
    """The whole table, with the kind of each procedure that has one."""

    classes: dict[str, CallClass]
    roles: tuple[str, ...]
    sections: dict[str, Section]
    kinds: dict[str, CallKind]
    families: dict[str, tuple[str, ...]]
    file_places: dict[str, str]
    left_out: dict[str, str]
    local: str
    kind_of: dict[str, str]

    def find_kind(self, name: str) -> CallKind | None:
        """Find the kind of a procedure ("Isend"); None: only its times are recorded."""
        kind = self.kind_of.get(name)
        if kind is None:
            kind = next((k.name for k in self.kinds.values() if k.pattern and re.fullmatch(k.pattern, name)), None)
        return self.kinds[kind] if kind else None

    def find_class(self, name: str) -> str:
        """Find the class of a procedure, by its kind or by its name."""
        kind = self.find_kind(name)
        if kind and kind.call_class:
            return kind.call_class
        fitting = (c.name for c in self.classes.values() if c.pattern and re.fullmatch(c.pattern, name))
        return next(fitting, "other")

    def base_of_form(self, name: str) -> str:
        """Name of the procedure whose form this is: "Barrier" of "Ibarrier"; the name itself otherwise."""
        kind = self.find_kind(name)
        if kind is None or not kind.form_of:
            return name
        return next(base for base in self.kinds[kind.form_of].procedures if kind.form_name(base) == name)


def read_table(path: Path = PATH) -> ProcedureTable:
    """Read the table.

    Raises:
        ValueError: A kind names a class, role, section or kind that there is not, or two kinds have one procedure.
    """
    with path.open("rb") as file:
        tables = tomllib.load(file)
    kinds = {name: _kind(name, dict(row)) for name, row in tables["kind"].items()}
    table = ProcedureTable(
        classes={n: CallClass(n, **_tuples(row)) for n, row in tables["class"].items()},
        roles=tuple(tables["role"]),
        sections={name: Section(**row) for name, row in tables["section"].items()},
        kinds=kinds,
        families=_families(kinds, tables["families"]),
        file_places=tables["file_places"],
        left_out=tables["left_out"],
        local=tables["analysis"]["local"],
        kind_of=_kind_of_each(kinds),
    )
    _check(table)
    return table


def _kind(name: str, row: dict[str, Any]) -> CallKind:
    families = {family: tuple(names.split()) for family, names in row.pop("families", {}).items()}
    unlisted = {one: why for names, why in row.pop("unlisted", {}).items() for one in names.split()}
    call_class = row.pop("class", "")
    fields: dict[str, Any] = {
        key: row.pop(key) for key in ("roles", "section", "header", "form_of", "named", "pattern") if key in row
    }
    fields.setdefault("section", call_class)
    return CallKind(name, call_class, families=families, unlisted=unlisted, details=row, **_tuples(fields))


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


def _families(kinds: dict[str, CallKind], plain: dict[str, str]) -> dict[str, tuple[str, ...]]:
    families: dict[str, tuple[str, ...]] = {name: tuple(names.split()) for name, names in plain.items()}
    for kind in kinds.values():
        for family, names in kind.families.items():
            families[family] = (*families.get(family, ()), *names)
    return families


def _kind_of_each(kinds: dict[str, CallKind]) -> dict[str, str]:
    kind_of: dict[str, str] = {}
    for kind in kinds.values():
        names = kind.procedures
        if kind.form_of in kinds:
            names = tuple(kind.form_name(name) for name in kinds[kind.form_of].procedures)
        for name in names:
            if name in kind_of:
                raise ValueError(f"procedures.toml: {name} is of the kinds {kind_of[name]} and {kind.name}")
            kind_of[name] = kind.name
    return kind_of


def _check(table: ProcedureTable) -> None:
    for kind in table.kinds.values():
        known: dict[str, tuple[str, Container[str]]] = {
            "class": (kind.call_class, table.classes),
            "section": (kind.section, table.sections),
            "form_of": (kind.form_of, table.kinds),
        }
        for column, (value, names) in known.items():
            if value and value not in names:
                raise ValueError(f"procedures.toml: kind {kind.name}: there is no {column} {value!r}")
        for role in kind.roles:
            if role not in table.roles:
                raise ValueError(f"procedures.toml: kind {kind.name}: there is no role {role!r}")
