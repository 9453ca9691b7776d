"""The table that `analyze fit` takes, and what it depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import pandas

    from analyzer.models.terms.formula import Formula

_TABLES = (".csv", ".parquet", ".pq", ".xml")


def read_measured(file: str, region: str | None) -> pandas.DataFrame:
    """Read a table: CSV, Parquet, TIA's XML, or a file of Extra-P. Raises TracelibError."""
    from analyzer.models.table_file import of_region, read_table

    if Path(file).suffix != ".xml":
        return read_table(file, region)
    from analyzer.experiments.formats import read_table as read_experiments

    return of_region(read_experiments(Path(file)), region, file)


def observable_in(frame: pandas.DataFrame, named: str | None) -> str:
    """Return the column to be explained: as named, else time, else what TIA calls it."""
    from analyzer.experiments.columns import TIME
    from analyzer.experiments.filters import OBSERVABLES

    return named or next((name for name in (TIME, *OBSERVABLES) if name in frame.columns), TIME)


def split_names(text: str) -> list[str]:
    """Split names at commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def is_fitted_as_table(files: Sequence[str], region: str | None, terms: str | None, formula: str | None) -> bool:
    """Return True if a fit without --parameters is one of a table's columns, and not of runs or of the parts of
    runs."""
    if len(files) > 1:
        return False
    from analyzer.experiments.columns import KIND, NAME
    from analyzer.models.table_file import parameters_in

    if formula is not None or parameters_in(files[0]):
        return True
    if terms is None or Path(files[0]).suffix not in _TABLES:
        return False
    return not {KIND, NAME} <= set(read_measured(files[0], region).columns)


def stated_formula(text: str, region: str | None, renamed: Mapping[str, str]) -> Formula:
    """Read --formula: a formula, or a C source whose pragma states that of the region. Raises TracelibError."""
    from analyzer.models.terms.formula import formula_of, stated_formulas

    if not Path(text).is_file():
        return formula_of(text, renamed)
    stated = stated_formulas(text)
    if region is None and len(stated) == 1:
        (region,) = stated
    if region not in stated:
        there = f"it states {', '.join(stated)}" if stated else "#pragma cll NAME CLOCK=NAME[0]+NAME[1]*n states one"
        wanted = f"formula of {region!r}" if region else "one formula"
        raise TracelibError(f"{text} states no {wanted}", f"{there}: --region names one" if stated else there, 2)
    return formula_of(stated[region], renamed)


def parameters_of(file: str, columns: Mapping[str, str], terms: str | None, formula: Formula | None) -> list[str]:
    """Find the parameters where none are named: the file's own parameters (Extra-P), or the names in the terms.

    columns: of the table's columns that are no identifiers, their identifiers.
    """
    from analyzer.models.table_file import parameters_in
    from analyzer.models.terms.language import candidates
    from analyzer.models.terms.names import with_identifiers

    if own := parameters_in(file):
        return own
    if formula is None:
        described = candidates(with_identifiers(terms or "", columns))
        names = sorted(set().union(*(term.names() for term in described)))
    else:
        names = formula.parameters
    original = {new: name for name, new in columns.items()}
    return [original.get(name, name) for name in names]
