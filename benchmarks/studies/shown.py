"""A line of the table of studies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas

from analyzer.models.model import Model

HEAD = (
    "| program | observable | model | settings fitted | error there | held out | error there | |\n"
    "|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Row:
    """A model, the settings that it was fitted to, and those that it was not."""

    program: str
    observable: str
    held_out: str  # in words
    model: Model
    fitted: pandas.DataFrame
    held: pandas.DataFrame
    column: str
    note: str = ""

    @property
    def line(self) -> str:
        """In Markdown. Errors are root mean squares of the relative errors."""
        inside, outside = (_percent(self._errors(frame)) for frame in (self.fitted, self.held))
        cells = (self.program, self.observable, f"`{self.model}`", str(len(self.fitted)), inside)
        return f"| {' | '.join([*cells, self.held_out, outside, self.note])} |"

    def _errors(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return relative errors, (predicted - measured) / measured."""
        settings = frame[list(self.model.parameters)].to_dict("records")
        return np.array([self.model.predict(**at) for at in settings]) / frame[self.column].to_numpy() - 1


def _percent(errors: np.ndarray) -> str:
    return f"{100 * np.sqrt(np.mean(np.square(errors))):.1f} %"
