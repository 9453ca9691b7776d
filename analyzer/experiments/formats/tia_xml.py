"""Reading and writing of TIA's XML, with errors where a file does not follow the document type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pandas

from analyzer.atomic_file import whole_file
from analyzer.errors import TracelibError
from analyzer.experiments.columns import CLOCK, NODE, REGION, TIME
from analyzer.experiments.formats.flat_files import TYPES, values

if TYPE_CHECKING:
    import pandas

ROOT = "cll_data"
EXPERIMENT = "cll_experiment"

DTD = """\
<!ELEMENT cll_data (cll_experiment+)>
<!ATTLIST cll_data program CDATA #REQUIRED
                   date CDATA #IMPLIED
                   version CDATA #IMPLIED>
<!ELEMENT cll_experiment (machines, headers, sample)>
<!ATTLIST cll_experiment name CDATA #REQUIRED
                         driver CDATA #IMPLIED>
<!ELEMENT machines (node*)>
<!ELEMENT node (#PCDATA)>
<!ELEMENT headers (h+)>
<!ELEMENT h (#PCDATA)>
<!ATTLIST h type (integer|real|text) #IMPLIED>
<!ELEMENT sample (row*)>
<!ELEMENT row (c+)>
<!ELEMENT c (#PCDATA)>
"""
"""The document type, on which other tools may rely, and which their files must follow."""

CHILDREN = {
    ROOT: (EXPERIMENT,),
    EXPERIMENT: ("machines", "headers", "sample"),
    "machines": ("node",),
    "headers": ("h",),
    "sample": ("row",),
    "row": ("c",),
}
"""Elements that each element may contain. Elements that are not listed contain text."""
IN_ORDER = (EXPERIMENT,)
"""Elements whose children come exactly once each, in this order."""
AT_LEAST_ONE = (ROOT, "headers", "row")
ATTRIBUTES = {ROOT: ("program", "date", "version"), EXPERIMENT: ("name", "driver"), "h": ("type",)}
REQUIRED = {ROOT: "program", EXPERIMENT: "name"}

VERSION = "tracelib 1"
"""Value of the attribute `version` in files that we write."""


def read_xml(path: Path) -> pandas.DataFrame:
    """Read a table from an XML file that follows the document type `DTD`.

    Rows of all experiments follow each other. Column `region` is the name of the experiment. A column without a type
    has integers or real numbers if all its values are such, else texts. CLOCK is read as `time` from files that
    `analyze table` wrote.

    Raises:
        TracelibError: The file does not follow the document type.
        OSError: The file cannot be read.
    """
    document = _Document()
    with path.open("rb") as file:
        document.read(file, path)
    return _table(document)


def _table(document: _Document) -> pandas.DataFrame:
    import pandas

    renamed = {CLOCK: TIME} if document.ours else {}
    named = any(one.name for one in document.experiments)
    frames = []
    for one, own in zip(document.experiments, document.values, strict=True):
        columns = {renamed.get(name, name): column for name, column in own.items()}
        frames.append(pandas.DataFrame({**({REGION: one.name} if named else {}), **columns}, index=range(one.rows)))
    return pandas.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


class _Experiment:
    """An experiment while it is read: its headers, and the cells of each column."""

    def __init__(self, name: str) -> None:
        self.name, self.rows = name, 0
        self.headers: list[tuple[str, str]] = []  # name and type
        self.cells: list[list[str]] = []

    def columns(self) -> dict[str, np.ndarray]:
        """Return the columns as int64, float64 or texts, by name.

        Raises:
            ValueError: A cell is not of its column's type.
            OverflowError: An integer is too large.
        """
        return {name: values(cells, kind) for (name, kind), cells in zip(self.headers, self.cells, strict=True)}


class _Document:
    """The content that was read so far, and the elements that are open."""

    def __init__(self) -> None:
        self.experiments: list[_Experiment] = []
        self.values: list[dict[str, np.ndarray]] = []  # columns of each experiment
        self.ours = False
        self._open: list[tuple[str, list[str]]] = []  # open elements, with the children that each has had
        self._text: list[str] = []
        self._kind, self._row = "", 0
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    def read(self, file: BinaryIO, path: Path) -> None:
        try:
            self._parser.ParseFile(file)
            self.values = [one.columns() for one in self.experiments]
        except expat.ExpatError as error:
            raise TracelibError(f"{path}: {error}", "expected TIA's XML, or a .csv or .parquet") from error
        except (ValueError, OverflowError, LookupError) as error:
            raise TracelibError(f"{path}: line {self._parser.CurrentLineNumber}: {error}") from error

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        around, before = self._open[-1] if self._open else ("", [])
        allowed = CHILDREN.get(around, ()) if around else (ROOT,)
        if tag not in allowed:
            raise ValueError(f"<{tag}> cannot be {f'in <{around}>' if around else 'the document'}")
        if around in IN_ORDER and (len(before) == len(allowed) or tag != allowed[len(before)]):
            raise ValueError(f"<{tag}> is out of order: <{around}> holds {', '.join(allowed)}")
        self._check(tag, attributes)
        if around in IN_ORDER or not before:  # elsewhere it is enough to know of one
            before.append(tag)
        self._open.append((tag, []))
        self._text = []
        if tag == ROOT:
            self.ours = attributes.get("version") == VERSION
        elif tag == EXPERIMENT:
            self.experiments.append(_Experiment(attributes["name"]))
        elif tag == "h":
            self._kind = attributes.get("type", "")
        elif tag == "row":
            self._row = 0

    @staticmethod
    def _check(tag: str, attributes: dict[str, str]) -> None:
        for name in attributes:
            if name not in ATTRIBUTES.get(tag, ()):
                raise ValueError(f"<{tag}> has no attribute {name}")
        if tag in REQUIRED and REQUIRED[tag] not in attributes:
            raise ValueError(f"<{tag}> needs the attribute {REQUIRED[tag]}")
        if tag == "h" and attributes.get("type", "text") not in TYPES:
            raise ValueError(f"the type of <h> is one of {', '.join(TYPES)}")

    def _characters(self, text: str) -> None:
        if self._open and self._open[-1][0] in CHILDREN:
            if text.strip(" \t\r\n"):
                raise ValueError(f"<{self._open[-1][0]}> holds no text")
        else:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        children = self._open.pop()[1]
        if tag in AT_LEAST_ONE and not children:
            raise ValueError(f"<{tag}> is empty")
        if tag in IN_ORDER and len(children) < len(CHILDREN[tag]):
            raise ValueError(f"<{tag}> has no <{CHILDREN[tag][len(children)]}>")
        if tag == "h":
            self._header("".join(self._text))
        elif tag == "c":
            self._cell("".join(self._text))
        elif tag == "row":
            self._end_row()

    def _header(self, name: str) -> None:
        one = self.experiments[-1]
        if name in [known for known, _ in one.headers]:
            raise ValueError(f"two columns are called {name!r}")
        one.headers.append((name, self._kind))
        one.cells.append([])

    def _cell(self, text: str) -> None:
        one = self.experiments[-1]
        if self._row < len(one.headers):
            one.cells[self._row].append(text)
        self._row += 1

    def _end_row(self) -> None:
        one = self.experiments[-1]
        if self._row != len(one.headers):
            raise ValueError(f"a row has {self._row} columns, and its experiment {len(one.headers)}")
        one.rows += 1

    def _entity(self, *declaration: object) -> None:
        raise ValueError("it declares an entity, which is not read")


_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ROWS = 4096


def write_xml(frame: pandas.DataFrame, path: Path) -> None:
    """Write a table to an XML file. Rows of one region are written together, in the order of the table.

    A region leaves out columns in which it has no values, but keeps the first if it has none at all. `time` is written
    as CLOCK.

    Raises:
        TracelibError: The table has no rows or only names, or the file cannot be written.
    """
    if not len(frame) or not len(frame.columns):
        raise TracelibError("a table without rows cannot be XML", "an experiment has executions: write a .csv")
    with whole_file(path) as file:
        _write(file, frame, path.stem)


def _write(file: BinaryIO, frame: pandas.DataFrame, program: str) -> None:
    file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n')
    file.write(f"<!DOCTYPE {ROOT} [\n{DTD}]>\n".encode())
    file.write(f"<{ROOT} program={_quoted(program)} version={_quoted(VERSION)}>\n".encode())
    for name, rows in _experiments(frame):
        used = [column for column in rows.columns if not rows[column].isna().all() or frame[column].isna().all()]
        for line in _experiment(
            name, rows[used or rows.columns[:1]], {TIME: CLOCK} if CLOCK not in frame.columns else {}
        ):
            file.write(line.encode("utf-8", "replace"))
    file.write(f"</{ROOT}>\n".encode())


def _experiments(frame: pandas.DataFrame) -> Iterator[tuple[str, pandas.DataFrame]]:
    if list(frame.columns) == [REGION]:
        raise TracelibError("a table of names alone cannot be XML", "an experiment has columns: write a .csv")
    if REGION not in frame.columns:
        yield "", frame
        return
    rest, names = frame.drop(columns=REGION), frame[REGION].where(frame[REGION].notna(), "")
    for name, at in names.groupby(names, sort=False).indices.items():
        yield str(name), rest.iloc[np.sort(at)]


def _experiment(name: str, frame: pandas.DataFrame, renamed: dict[str, str]) -> Iterator[str]:
    nodes = dict.fromkeys(frame[NODE].astype(str)) if NODE in frame.columns else ()
    yield f"<cll_experiment name={_quoted(name)}>\n<machines>"
    yield from (f"<node>{_text(node)}</node>" for node in nodes)
    yield "</machines>\n<headers>"
    for column in frame.columns:
        yield f'<h type="{_type(frame[column])}">{_text(renamed.get(column, str(column)))}</h>'
    yield "</headers>\n<sample>\n"
    for first in range(0, len(frame), _ROWS):
        yield _rows([frame[column].iloc[first : first + _ROWS] for column in frame.columns])
    yield "</sample>\n</cll_experiment>\n"


def _rows(columns: Sequence[pandas.Series]) -> str:
    cells = [[_cell(value) for value in column.tolist()] for column in columns]
    return "".join(f"<row>{''.join(row)}</row>\n" for row in zip(*cells, strict=True))


def _cell(value: object) -> str:
    if value is None or value is pandas.NA or value != value:
        return "<c></c>"
    if isinstance(value, float):
        return f"<c>{value!r}</c>"
    return f"<c>{_text(str(value))}</c>"


def _type(column: pandas.Series) -> str:
    return {"i": "integer", "u": "integer", "f": "real"}.get(column.dtype.kind, "text")


def _text(text: str) -> str:
    """Escape a text for XML. Characters that XML cannot hold become question marks, carriage returns references."""
    return escape(_IMPOSSIBLE.sub("?", text), {"\r": "&#13;"})


def _quoted(text: str) -> str:
    return quoteattr(_IMPOSSIBLE.sub("?", text), {"\r": "&#13;"})
