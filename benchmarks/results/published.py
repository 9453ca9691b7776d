"""The tables of Casas 2009 that numbers are recomputed from (data/README.md says which is which)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

DATA = Path(__file__).parent / "data"


def table(name: str) -> pd.DataFrame:
    """Read data/NAME.csv; values that were not found, or are negligible, are NaN."""
    return pd.read_csv(DATA / f"{name}.csv")
