"""`analyze fit MODEL` and `analyze fit MODEL TABLE`: what a model that was fitted before predicts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.shared.outputs import check_replaceable
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import pandas


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


def predict_stored(session: Session, file: str, points: Sequence[dict[str, float]], *, as_json: bool) -> None:
    """Print the model and its predictions. Raises TracelibError where the file is damaged, or a point fits badly."""
    from analyzer.models.model_file import read_model
    from analyzer.report.fit import model_json, print_model

    model = read_model(file)
    check_points(points, model.parameters)
    predictions = [(point, model.prediction(**point)) for point in points]
    if as_json:
        session.print_json(model_json(file, model, predictions))
    elif not session.quiet:
        session.print(lambda console: print_model(file, model, predictions, console))


def _named_as(observable: str, frame: pandas.DataFrame) -> pandas.DataFrame:
    """Rename TIA's CLOCK to our time, or the other way round, if a table has only one of them."""
    from analyzer.experiments.columns import CLOCK, TIME

    other = {CLOCK: TIME, TIME: CLOCK}.get(observable)
    return frame if other is None or observable in frame.columns else frame.rename(columns={other: observable})


def apply_stored(
    session: Session, file: str, table: str, region: str | None, *, as_json: bool, output: str | None, force: bool
) -> None:
    """Print what the model expects of each row of a table, and write the table with it. Raises TracelibError."""
    from analyzer.commands.model._measured_table import read_measured
    from analyzer.experiments.formats import check_ending, write_table
    from analyzer.models.applied_models import apply_model
    from analyzer.models.model_file import read_model
    from analyzer.report.applied import applied_json, print_applied, with_expected

    if output:
        check_ending(Path(output))
        check_replaceable(Path(output), [Path(file), Path(table)], force)
    model = read_model(file)
    frame = _named_as(model.observable, read_measured(table, region))
    found = apply_model(model, frame)
    if output:
        write_table(with_expected(frame, model, found), Path(output))
    if as_json:
        session.print_json(applied_json(file, table, model, found) | {"written": output})
    elif not session.quiet:
        session.print(lambda console: print_applied(file, table, model, found, console))
        if output:
            session.say(f"\nWritten: {output}")
