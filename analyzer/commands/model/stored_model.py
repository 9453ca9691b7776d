"""`analyze fit MODEL`: what a model that was fitted before predicts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError


def is_stored(file: str) -> bool:
    """Whether a file holds a model; by its name first, which costs nothing."""
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
