"""Measurements of a file, collected into a table with a row for each repetition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import pandas

REGION = "region"
METRIC = "value"
"""Name of the metric if the file has none."""


@dataclass
class MeasurementFile:
    """Measurements that a file of Extra-P contains.

    Attributes:
        path: Name of the file, for errors.
        parameters: Names of the parameters.
    """

    path: str
    parameters: list[str] = field(default_factory=list)
    _rows: dict[tuple[str, tuple[float, ...], int], dict[str, float]] = field(default_factory=dict)
    _repeated: dict[tuple[str, tuple[float, ...], str], int] = field(default_factory=dict)

    def add(self, region: str, metric: str, point: Sequence[float], values: Sequence[float], where: str) -> None:
        """Add measurements of one metric at one point.

        Args:
            region: Name of the region (call path).
            metric: Name of the metric.
            point: Value of each parameter.
            values: Measured values, one for each repetition.
            where: Place in the file, for errors.

        Raises:
            TracelibError: The point has another number of values than there are parameters, or the metric has the name
                of a parameter.
        """
        if len(point) != len(self.parameters):
            wanted = f"a point has a value of each of {', '.join(self.parameters)}" if self.parameters else ""
            raise TracelibError(f"{where}: a point of {len(point)} values", wanted or "name the parameters first")
        if metric in (REGION, *self.parameters):
            raise TracelibError(f"{where}: {metric!r} is a metric and a parameter", "rename one of them")
        at = tuple(point)
        for value in values:
            repetition = self._repeated.get((region, at, metric), 0)
            self._repeated[region, at, metric] = repetition + 1
            self._rows.setdefault((region, at, repetition), {})[metric] = value

    def frame(self) -> pandas.DataFrame:
        """Return a table with a row for each repetition.

        It has a column for each parameter and metric, and the column `region`.

        Raises:
            TracelibError: There are no measurements, or two columns have the same name.
        """
        import pandas

        if not self._rows:
            raise TracelibError(f"{self.path} has no measurements", "Extra-P's files have points, and data for each")
        for name in self.parameters:
            if self.parameters.count(name) > 1 or name == REGION:
                raise TracelibError(f"{self.path}: two columns are called {name!r}", "rename the parameter")
        rows = [
            {**dict(zip(self.parameters, point, strict=True)), REGION: region, **values}
            for (region, point, _), values in self._rows.items()
        ]
        return pandas.DataFrame(rows)
