"""`analyze fit MODEL` and `analyze fit MODEL TABLE`: what a model that was fitted before predicts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError
from analyzer.results.output_files import check_replaceable

if TYPE_CHECKING:
    import pandas

    from analyzer.results.fit import AppliedModelResult, StoredModelResult


def is_stored(file: str) -> bool:
    """Return True if a file holds a model; by its name first, which costs nothing."""
    if Path(file).suffix != ".json":
        return False
    from analyzer.models.model_file import is_model

    return is_model(file)


def check_points(points: Sequence[dict[str, float]], names: Collection[str]) -> None:
    """Raise TracelibError where a point has other parameters than the model."""
    for point in points:
        if set(point) != set(names):
            raise TracelibError(f"--predict needs a value of each of {', '.join(names)}", "as p=512,n=160", 2)


def predict_stored(file: str, points: Sequence[dict[str, float]]) -> StoredModelResult:
    """Predict with a stored model. Raises TracelibError where the file is damaged, or a point fits badly."""
    from analyzer.models.model_file import read_model
    from analyzer.results.fit import StoredModelResult

    model = read_model(file)
    check_points(points, model.parameters)
    return StoredModelResult(file, model, [(point, model.prediction(**point)) for point in points])


def _named_as(observable: str, frame: pandas.DataFrame) -> pandas.DataFrame:
    """Rename TIA's CLOCK to our time, or the other way round, if a table has only one of them."""
    from analyzer.experiments.columns import CLOCK, TIME

    other = {CLOCK: TIME, TIME: CLOCK}.get(observable)
    return frame if other is None or observable in frame.columns else frame.rename(columns={other: observable})


def apply_stored(file: str, table: str, region: str | None, *, output: str | None, force: bool) -> AppliedModelResult:
    """Predict each row of a table, and write the table with the predictions. Raises TracelibError."""
    from analyzer.commands.model._measured_table import read_measured
    from analyzer.experiments.formats import check_ending, write_table
    from analyzer.models.applied_models import apply_model
    from analyzer.models.model_file import read_model
    from analyzer.report.applied import with_expected
    from analyzer.results.fit import AppliedModelResult

    if output:
        check_ending(Path(output))
        check_replaceable(Path(output), [Path(file), Path(table)], force)
    model = read_model(file)
    frame = _named_as(model.observable, read_measured(table, region))
    found = apply_model(model, frame)
    if output:
        write_table(with_expected(frame, model, found), Path(output))
    return AppliedModelResult(file, table, model, found, output)
