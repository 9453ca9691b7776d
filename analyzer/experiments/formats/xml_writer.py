"""Writes a table as TIA's XML: an experiment for each region, a row for each execution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pandas

from analyzer.errors import TracelibError
from analyzer.experiments.columns import CLOCK, NODE, REGION, TIME
from analyzer.experiments.formats.xml_form import DTD, ROOT, VERSION
from analyzer.whole import whole_file

_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ROWS = 4096


def write_xml(frame: pandas.DataFrame, path: Path) -> None:
    """Rows of one region together, in the order of the table; columns that a region has nothing in are left out of it,
    but for the first where it has nothing at all. `time` is called CLOCK. Raises TracelibError."""
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
    """What XML cannot say at all becomes a question mark; a carriage return would be read as a line's end."""
    return escape(_IMPOSSIBLE.sub("?", text), {"\r": "&#13;"})


def _quoted(text: str) -> str:
    return quoteattr(_IMPOSSIBLE.sub("?", text), {"\r": "&#13;"})
