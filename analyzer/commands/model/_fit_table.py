"""`analyze fit TABLE`: a formula for a column of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.model._composing import composed_parameters, inner_models, settings_of_table
from analyzer.commands.model._measured_table import (
    observable_in,
    parameters_of,
    read_measured,
    split_names,
    stated_formula,
)
from analyzer.commands.model._stored_model import check_points
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_replaceable, output_base

if TYPE_CHECKING:  # pandas takes as long to import as all the rest: who asks for --help does not wait for it
    from analyzer.models.composed_models import ComposedModel
    from analyzer.models.described_terms import FitOptions
    from analyzer.models.model import Model
    from analyzer.models.study import ModelStudy
    from analyzer.report.composed import ComposedRow
    from analyzer.results.fit import FitResult

_ENDINGS = (".model.json", ".c", ".py", ".tex", ".png")


@dataclass(frozen=True)
class Asked:
    """The options that choose observable, parameters, terms and rows, as they were typed."""

    observable: str | None
    parameters: str | None
    region: str | None
    terms: str | None
    formula: str | None
    points: Sequence[dict[str, float]]
    compared: Sequence[str]  # files of models
    following: int  # how many settings to be measured next are named
    where: Sequence[str]  # conditions that rows must meet
    composed: Sequence[tuple[str, str]] = ()  # parameters that other models predict, and the files of these


def fit_table(file: str, asked: Asked, options: FitOptions, *, output: str | None, force: bool) -> FitResult:
    """Fit a formula to a table, and write it. Raises TracelibError."""
    from analyzer.experiments.filters import select
    from analyzer.models.composed_models import ComposedModel
    from analyzer.models.next_points import next_points
    from analyzer.models.study import study
    from analyzer.models.terms.names import identifiers
    from analyzer.report.composed import row_at
    from analyzer.results.fit import Composition, FitResult

    frame = select(read_measured(file, asked.region), asked.where)
    renamed = identifiers(frame.columns)
    formula = stated_formula(asked.formula, asked.region, renamed) if asked.formula is not None else None
    names = split_names(asked.parameters or "") or parameters_of(file, renamed, asked.terms, formula)
    identified = [renamed.get(name, name) for name in names]
    inner = inner_models(asked.composed, identified, renamed)
    points = [{renamed.get(name, name): at for name, at in point.items()} for point in asked.points]
    check_points(points, composed_parameters(identified, inner))
    models = _compared(asked.compared, identified)
    found = study(frame, observable_in(frame, asked.observable), names, formula or asked.terms, options)
    both = ComposedModel(found.model, inner) if inner else None
    settings = settings_of_table(both, frame.rename(columns=renamed)) if both else []
    predictions = [] if both else [(point, found.model.prediction(**point)) for point in points]
    following = next_points(found.model, found.measurements.values, points, asked.following) if asked.following else []
    inputs = [file, *asked.compared, *(model for _, model in asked.composed)]
    written = _write(found, models, inputs, output, force) if output else []
    if output and both:
        written += _draw_composed(both, settings, inputs, output, force)
    composition = Composition(both, settings, [row_at(both, point) for point in points]) if both else None
    return FitResult(file, found, predictions, composition, models, following, points, written)


def _compared(files: Sequence[str], parameters: Sequence[str]) -> dict[str, Model]:
    """Read models by the names of their files. Raises TracelibError if one depends on something else."""
    from analyzer.models.model_file import model_name, read_model

    found = {}
    for file in files:
        model = read_model(file)
        if strange := sorted(set(model.parameters) - set(parameters)):
            raise TracelibError(f"{file} is a model of {', '.join(strange)}, too", "add it to --parameters", 2)
        found[model_name(file)] = model
    return found


def _write(found: ModelStudy, models: dict[str, Model], inputs: Sequence[str], output: str, force: bool) -> list[Path]:
    from analyzer.atomic_file import whole_file
    from analyzer.models.model_file import c_source, latex_source, model_text, python_source
    from analyzer.report.pictures.fit import draw_fit

    base = output_base(Path(inputs[0]), output, _ENDINGS)
    paths = [base.with_name(base.name + ending) for ending in _ENDINGS]
    for path in paths:
        check_replaceable(path, [Path(name) for name in inputs], force)
    model = found.model
    texts = (model_text(model), *(of(model).encode() for of in (c_source, python_source, latex_source)))
    for path, text in zip(paths[:4], texts, strict=True):
        with whole_file(path) as opened:
            opened.write(text)
    draw_fit(found, models, paths[4])
    return paths


def _draw_composed(
    both: ComposedModel, settings: Sequence[ComposedRow], inputs: Sequence[str], output: str, force: bool
) -> list[Path]:
    """Draw the part of each quantity, into NAME.QUANTITY.png."""
    from analyzer.report.pictures.composed import draw_composed

    base = output_base(Path(inputs[0]), output, _ENDINGS)
    paths = []
    for name in both.inner:
        path = base.with_name(f"{base.name}.{name}.png")
        check_replaceable(path, [Path(one) for one in inputs], force)
        draw_composed(both, name, settings, path)
        paths.append(path)
    return paths
