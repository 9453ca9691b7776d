"""Results of `analyze fit`.

A formula for a column of a table, predictions of stored models, models of a run's parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.experiments.growth import TimeGrowth
from analyzer.models.applied_models import ModelValues
from analyzer.models.composed_models import ComposedModel
from analyzer.models.model import Model, ModelPrediction
from analyzer.models.next_points import NextPoint
from analyzer.models.study import ModelStudy
from analyzer.report.applied import applied_json, print_applied
from analyzer.report.composed import ComposedRow, composed_json, print_composed
from analyzer.report.experiments import next_json, print_next
from analyzer.report.fit import compared_json, fit_json, model_json, print_compared, print_fit, print_model
from analyzer.report.growth import growth_json, print_growth
from analyzer.results.result import Result, print_lines

Point = dict[str, float]
"""Value of each parameter, by its name."""


@dataclass(frozen=True)
class Composition:
    """Model composed of the models of several quantities, with its expectations.

    Attributes:
        models: The models.
        settings: Expectations for each setting of a table.
        asked: Expectations for the points that the user asked for.
    """

    models: ComposedModel
    settings: list[ComposedRow]
    asked: list[ComposedRow]

    def to_dict(self) -> dict[str, Any]:
        """Return the keys that the composition adds to the JSON."""
        return composed_json(self.models, self.settings, self.asked)

    def print(self, console: Console) -> None:
        """Print the composition as text."""
        print_composed(self.models, self.settings, self.asked, console)


@dataclass(frozen=True, repr=False)
class FitResult(Result):
    """Formula that was fitted to a column of a table.

    Attributes:
        file: Path of the table.
    """

    file: str
    _study: ModelStudy
    _predictions: Sequence[tuple[Point, ModelPrediction]]
    _composition: Composition | None
    _compared: Mapping[str, Model]
    _following: Sequence[NextPoint]
    _points: Sequence[Point]
    _written: Sequence[Path]

    def to_dict(self) -> dict[str, Any]:
        numbers = fit_json(self.file, self._study, self._predictions, self._written)
        numbers |= self._composition.to_dict() if self._composition else {}
        return numbers | compared_json(self._study, self._compared) | next_json(self._following)

    def print(self, console: Console) -> None:
        print_fit(self.file, self._study, self._predictions, console)
        if self._composition:
            self._composition.print(console)
        if self._following:
            print_next(self._following, self._points, console)
        if self._compared:
            print_compared(self._study, self._compared, console)
        if self._written:
            print_lines(console, [f"\nWritten: {', '.join(map(str, self._written))}"])


@dataclass(frozen=True, repr=False)
class StoredModelResult(Result):
    """Predictions of a model that was fitted before.

    Attributes:
        file: Path of the model.
    """

    file: str
    _model: Model
    _predictions: Sequence[tuple[Point, ModelPrediction]]
    _composition: Composition | None = None

    def to_dict(self) -> dict[str, Any]:
        numbers = model_json(self.file, self._model, self._predictions)
        return numbers | self._composition.to_dict() if self._composition else numbers

    def print(self, console: Console) -> None:
        name = Path(self.file).name if self._composition else self.file
        print_model(name, self._model, self._predictions, console)
        if self._composition:
            self._composition.print(console)


@dataclass(frozen=True, repr=False)
class AppliedModelResult(Result):
    """Expectations of a stored model for each row of a table.

    Attributes:
        file: Path of the model.
        table: Path of the table.
        written: Path of the new table with expectations. None: none was written.
    """

    file: str
    table: str
    _model: Model
    _applied: ModelValues
    written: str | None

    def to_dict(self) -> dict[str, Any]:
        return applied_json(self.file, self.table, self._model, self._applied) | {"written": self.written}

    def print(self, console: Console) -> None:
        print_applied(self.file, self.table, self._model, self._applied, console)
        if self.written:
            print_lines(console, [f"\nWritten: {self.written}"])


@dataclass(frozen=True, repr=False)
class GrowthResult(Result):
    """Models of all parts of runs, sorted by how the share of a part in the run's time grows.

    Attributes:
        written: Path of the file with the models. None: none was written.
    """

    _files: Sequence[str]
    _growth: TimeGrowth
    _left_out: Sequence[str]
    written: str | None

    def to_dict(self) -> dict[str, Any]:
        return growth_json(list(self._files), self._growth) | {"left_out": list(self._left_out)}

    def print(self, console: Console) -> None:
        print_growth(self._growth, console)
        print_lines(console, [f"\n{note}" for note in self._left_out])
        if self.written:
            following = f"analyze balance --models machines.json --learn MACHINE={self.written}"
            print_lines(console, [f"\nWritten: {self.written}; next: {following}"])
