"""The table that `analyze fit` reads, its observable and its parameters."""

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
    """Read a table: CSV, Parquet, TIA's XML, or a file of Extra-P.

    Args:
        file: Path of the table.
        region: Region whose rows are used. None: all rows.

    Raises:
        TracelibError: The table cannot be read.
    """
    from analyzer.models.table_file import of_region, read_table

    if Path(file).suffix != ".xml":
        return read_table(file, region)
    from analyzer.experiments.formats import read_table as read_experiments

    return of_region(read_experiments(Path(file)), region, file)


def observable_in(frame: pandas.DataFrame, named: str | None) -> str:
    """Return the name of the column to be modelled: `named`, or else the column "time", or else TIA's names for it."""
    from analyzer.experiments.columns import TIME
    from analyzer.experiments.filters import OBSERVABLES

    return named or next((name for name in (TIME, *OBSERVABLES) if name in frame.columns), TIME)


def split_names(text: str) -> list[str]:
    """Split a text of names at commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def is_fitted_as_table(files: Sequence[str], region: str | None, terms: str | None, formula: str | None) -> bool:
    """Return True if a fit without --parameters models one column of a table, not runs or their parts."""
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
    """Read the value of --formula: a formula, or the path of a C source whose pragmas state formulas.

    Args:
        text: The formula or path.
        region: Region whose formula is read from the source. None: the source states only one.
        renamed: Identifier of each column whose name is no identifier.

    Raises:
        TracelibError: The source states no such formula.
    """
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
    """Find the parameters of a model if the user named none.

    They are the parameters of the file (Extra-P), or else the names in the terms or the formula.

    Args:
        file: Path of the table.
        columns: Identifier of each column whose name is no identifier.
        terms: Candidate terms. None: there are none.
        formula: Formula to be fitted. None: there is none.
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
