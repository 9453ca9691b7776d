"""Reader of procedures.toml, which describes MPI procedures and events. Imports nothing of the package.

The generators of C code (csrc/generate) load this file by its path, before the package is built.
"""

import re
import tomllib
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("procedures.toml")
"""The table that belongs to this package."""
ALL = "*"
"""Key for all procedures of a row that have no value of their own in a column."""
Columns = dict[str, dict[str, str]]
"""How analyses count the procedures of a row: column -> (procedure or ALL) -> value."""


@dataclass(frozen=True)
class CallClass:
    """Class of procedures that `--calls` and TRACELIB_CALLS select.

    Attributes:
        name: Name of the class.
        meaning: Text for the help. "": the class cannot be chosen and is always recorded.
        pattern: Regular expression for procedures whose kind names no class.
        requests: Members of What that belong to the class.
        columns: How analyses count the procedures of the class.
    """

    name: str
    meaning: str = ""  # "": always recorded
    pattern: str = ""  # procedures whose kind states no class
    requests: tuple[str, ...] = ()  # members of RequestKind
    columns: Columns = field(default_factory=dict)


@dataclass(frozen=True)
class CoverageSection:
    """Section of docs/mpi-coverage.md: its title, and what is decoded of its procedures."""

    title: str
    decoded: str


@dataclass(frozen=True)
class EventFamily:
    """Event type of a .prv whose value is the called procedure at the entry of a call, and 0 at its exit.

    Attributes:
        name: Name of the family.
        number: Event type in the .prv.
        label: Label in the .pcf.
        values: Procedures that this family numbers itself, from 1.
    """

    name: str
    number: int  # event type
    label: str  # in the .pcf
    values: tuple[str, ...] = ()  # procedures with a value of this family's own, from 1


@dataclass(frozen=True)
class FileTransfer:
    """How a procedure reads or writes a file.

    Attributes:
        verb: "read" or "write".
        place: "_at": at an offset; "": at the individual file pointer; any other: at the shared file pointer.
        of_all: Whether all ranks call the procedure together.
        starts: Whether the procedure is nonblocking.
        half: "begin" or "end" of a split collective. "": the procedure does the whole transfer.
    """

    verb: str  # "read" or "write"
    place: str  # "_at": an offset; "": the individual file pointer; others: the shared one
    of_all: bool  # all ranks call it together
    starts: bool  # nonblocking
    half: str  # "": the whole; "begin", "end": halves of a split collective


@dataclass(frozen=True)
class CallKind:
    """Kind of procedures: procedures that the same function of csrc/generate/bodies decodes.

    Names of procedures have no prefix MPI_.
    """

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
    columns: Columns = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)  # for the function that decodes: moves, flavors

    @property
    def procedures(self) -> tuple[str, ...]:
        """Procedures that the table names for this kind, in the order of the table."""
        return (*(name for names in self.families.values() for name in names), *self.unlisted)

    def form_name(self, name: str) -> str:
        """Return the name that this kind gives to a procedure of another kind, such as "Ibarrier" for "Barrier"."""
        before, _, after = self.named.partition("*")
        return f"{before}{name.lower() if before else name}{after}"


@dataclass(frozen=True)
class ProcedureTable:
    """Contents of procedures.toml, with the kind of each procedure that has one."""

    classes: dict[str, CallClass]
    roles: tuple[str, ...]
    sections: dict[str, CoverageSection]
    kinds: dict[str, CallKind]
    families: dict[str, tuple[str, ...]]
    file_places: dict[str, str]
    left_out: dict[str, str]
    kind_of: dict[str, str]
    column_names: tuple[str, ...]
    no_kind: Columns
    events: dict[str, EventFamily]
    event_values: dict[str, int]  # Extrae's values of procedures
    same_value: dict[str, str]  # procedures that have the value of another one
    dimemas_collectives: tuple[str, ...]
    patterns: dict[str, str]

    def find_kind(self, name: str) -> CallKind | None:
        """Return the kind of a procedure, such as "Isend". None: only the times of its calls are recorded."""
        kind = self.kind_of.get(name)
        if kind is None:
            kind = next((k.name for k in self.kinds.values() if k.pattern and re.fullmatch(k.pattern, name)), None)
        return self.kinds[kind] if kind else None

    def find_class(self, name: str) -> str:
        """Return the name of a procedure's class: its kind's, or the first class whose pattern fits, or "other"."""
        kind = self.find_kind(name)
        if kind and kind.call_class:
            return kind.call_class
        fitting = (c.name for c in self.classes.values() if c.pattern and re.fullmatch(c.pattern, name))
        return next(fitting, "other")

    def find_value(self, column: str, name: str) -> str:
        """Return how an analysis counts a procedure.

        The procedure's kind counts first, then the kind of which it is a form, then its class.

        Args:
            column: Name of the column of the table.
            name: Name of the procedure.

        Returns:
            The value in this column. "": there is none.
        """
        kind = self.find_kind(name)
        rows = [(kind.columns, name)] if kind else [(self.no_kind, name)]
        if kind and kind.form_of:
            rows.append((self.kinds[kind.form_of].columns, self.base_of_form(name)))
        rows.append((self.classes[self.find_class(name)].columns, name))
        for columns, known_as in rows:
            values = columns.get(column, {})
            if known_as in values or ALL in values:
                return values.get(known_as, values.get(ALL, ""))
        return ""

    def find_transfer(self, name: str) -> FileTransfer | None:
        """Return how a procedure reads or writes a file. None: it does neither."""
        match = re.fullmatch(self.kinds["io"].pattern, name)
        if not match:
            return None
        part = match.groupdict(default="")
        half = part["half"].removeprefix("_")
        return FileTransfer(part["verb"], part["place"], bool(part["of_all"]), bool(part["starts"]), half)

    def base_of_form(self, name: str) -> str:
        """Return the procedure of which this one is a form, such as "Barrier" for "Ibarrier".

        Otherwise return `name`.
        """
        kind = self.find_kind(name)
        if kind is None or not kind.form_of:
            return name
        return next(base for base in self.kinds[kind.form_of].procedures if kind.form_name(base) == name)


def read_table(path: Path = PATH) -> ProcedureTable:
    """Read the table.

    Raises:
        ValueError: A row names a class, role, section, kind or event family that does not exist; or two kinds have
            the same
            procedure; or a column has two values for one procedure.
    """
    with path.open("rb") as file:
        tables = tomllib.load(file)
    names = tuple(tables["column"])
    kinds = {name: _kind(name, dict(row), names) for name, row in tables["kind"].items()}
    table = ProcedureTable(
        classes={n: _call_class(n, dict(row), names) for n, row in tables["class"].items()},
        roles=tuple(tables["role"]),
        sections={name: CoverageSection(**row) for name, row in tables["section"].items()},
        kinds=kinds,
        families=_families(kinds, tables["families"]),
        file_places=tables["file_places"],
        left_out=tables["left_out"],
        kind_of=_kind_of_each(kinds),
        column_names=names,
        no_kind=_pop_columns("no_kind", tables["no_kind"], names, {}),
        events={name: _event(name, row) for name, row in tables["event"].items()},
        event_values=_extrae_values(**tables["extrae"]),
        same_value=tables["extrae"]["same_value"],
        dimemas_collectives=tuple(tables["dimemas"]["collectives"].split()),
        patterns=tables["analysis"],
    )
    _check(table)
    return table


def _call_class(name: str, row: dict[str, Any], columns: tuple[str, ...]) -> CallClass:
    counts = _pop_columns(f"class {name}", row, columns, {})
    return CallClass(name, columns=counts, **_tuples(row))


def _event(name: str, row: dict[str, Any]) -> EventFamily:
    return EventFamily(name, row["type"], row["label"], tuple(row.get("values", "").split()))


def _extrae_values(values: str, same_value: dict[str, str]) -> dict[str, int]:
    numbers = {name: number for number, name in enumerate(values.split(), start=1)}
    return numbers | {name: numbers[other] for name, other in same_value.items()}


def _pop_columns(
    place: str, row: dict[str, Any], columns: tuple[str, ...], families: dict[str, tuple[str, ...]]
) -> Columns:
    """Remove the columns from a row, and return them. `place` names the row in error messages."""
    return {column: _values(f"{place}: {column}", row.pop(column), families) for column in columns if column in row}


def _values(place: str, cell: object, families: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the value of each procedure in a cell. A cell has one value for all, or lists procedures by value."""
    if not isinstance(cell, dict):
        return {ALL: str(cell).lower() if isinstance(cell, bool) else str(cell)}
    found: dict[str, str] = {}
    for value, names in cell.items():
        for word in names.split():
            for name in families[word[1:]] if word.startswith("@") else (word,):
                if name in found:
                    raise ValueError(f"procedures.toml: {place}: {name} is {found[name]!r} and {value!r}")
                found[name] = value
    return found


def _kind(name: str, row: dict[str, Any], columns: tuple[str, ...]) -> CallKind:
    families = {family: tuple(names.split()) for family, names in row.pop("families", {}).items()}
    unlisted = {one: why for names, why in row.pop("unlisted", {}).items() for one in names.split()}
    counts = _pop_columns(f"kind {name}", row, columns, families)
    call_class = row.pop("class", "")
    fields: dict[str, Any] = {
        key: row.pop(key) for key in ("roles", "section", "header", "form_of", "named", "pattern") if key in row
    }
    fields.setdefault("section", call_class)
    names: dict[str, Any] = {"families": families, "unlisted": unlisted}
    return CallKind(name, call_class, columns=counts, details=row, **names, **_tuples(fields))


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
    rows = [table.no_kind, *(c.columns for c in table.classes.values()), *(k.columns for k in table.kinds.values())]
    for event in {event for row in rows for event in row.get("event", {}).values()}:
        if event not in table.events:
            raise ValueError(f"procedures.toml: there is no event {event!r}")
