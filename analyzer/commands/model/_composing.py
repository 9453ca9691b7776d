"""`analyze fit --compose NAME=MODEL`: a parameter of the model that another model predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import pandas

    from analyzer.models.composed_models import ComposedModel
    from analyzer.models.model import Model
    from analyzer.report.composed import ComposedRow
    from analyzer.results.fit import StoredModelResult


class QuantityModel(click.ParamType):
    """Type of an option: NAME=MODEL, a quantity and the path of its model. The command gets both as texts."""

    name = "composed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, file = str(value).partition("=")
        if not (equals and name.strip() and file):
            self.fail(f"{value!r} is not NAME=MODEL, such as misses=misses.model.json", param, ctx)
        return name.strip(), file


def inner_models(
    asked: Sequence[tuple[str, str]], parameters: Sequence[str], renamed: Mapping[str, str]
) -> dict[str, Model]:
    """Read the models of quantities.

    Args:
        asked: Name of each quantity, and the path of its model.
        parameters: Parameters of the outer model.
        renamed: Identifier of each name that is no identifier.

    Raises:
        TracelibError: A quantity is no parameter of the outer model, has two models, or depends on another quantity.
    """
    from analyzer.models.model_file import read_model

    found: dict[str, Model] = {}
    for typed, file in asked:
        name = renamed.get(typed, typed)
        if name in found:
            raise TracelibError(f"--compose gives {typed} two models", "leave one out", 2)
        if name not in parameters:
            raise TracelibError(f"{typed} is no parameter of the model", f"it is of {', '.join(parameters)}", 2)
        found[name] = read_model(file)
    for name, model in found.items():
        if inside := sorted(set(model.parameters) & set(found)):
            raise TracelibError(
                f"the model of {name} is itself of {', '.join(inside)}", "a quantity's model is of parameters only", 2
            )
    return found


def composed_parameters(parameters: Sequence[str], inner: Mapping[str, Model]) -> list[str]:
    """List the parameters that a prediction needs: of the outer model, and of the models of its quantities."""
    own = [name for name in parameters if name not in inner]
    return list(dict.fromkeys([*own, *(name for model in inner.values() for name in model.parameters)]))


def settings_of_table(both: ComposedModel, frame: pandas.DataFrame) -> list[ComposedRow]:
    """Return the expectations of a composed model for each setting of a table.

    Raises:
        TracelibError: The table lacks a parameter of a quantity's model.
    """
    from analyzer.report.composed import rows_of_table

    if missing := [name for name in both.parameters if name not in frame.columns]:
        raise TracelibError(f"the table has no column {', '.join(missing)}", "a model of --compose depends on it", 2)
    return list(rows_of_table(both, frame))


def predict_composed(
    file: str, asked: Sequence[tuple[str, str]], points: Sequence[dict[str, float]]
) -> StoredModelResult:
    """Predict with a stored model and the stored models of its quantities.

    Args:
        file: Path of the model.
        asked: Name of each quantity, and the path of its model.
        points: Values of the parameters, for each prediction.

    Raises:
        TracelibError: A model does not fit, or a point lacks a parameter.
    """
    from analyzer.commands.model._stored_model import check_points
    from analyzer.models.composed_models import ComposedModel
    from analyzer.models.model_file import read_model
    from analyzer.report.composed import row_at
    from analyzer.results.fit import Composition, StoredModelResult

    model = read_model(file)
    both = ComposedModel(model, inner_models(asked, model.parameters, {}))
    check_points(points, both.parameters)
    return StoredModelResult(file, model, [], Composition(both, [], [row_at(both, point) for point in points]))
