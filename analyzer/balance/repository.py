"""The repository of machine models: one for each type of machine, kept with the machine's features.

Source: search-and-balance specification, section 2 (AME, P1). A stored model predicts without the data that it was
fitted to: it is its formulas.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.balance.formula import Formula
from analyzer.errors import TracelibError
from analyzer.whole import whole_file

FORMAT = "tracelib-machines"


@dataclass(frozen=True)
class MachineModel:
    """Times of a program on one type of machine, s, as formulas of n and p."""

    name: str
    time: Formula
    low: Formula | None = None  # lowest and highest time
    high: Formula | None = None
    sizes: tuple[float, float] | None = None  # smallest and largest n that it was fitted to
    features: dict[str, str] = field(default_factory=dict)

    def time_s(self, n: float, p: float = 1) -> float:
        """delta(p, n). Raises TracelibError where it is not above 0."""
        found = self.time(n, p)
        if found <= 0:
            raise TracelibError(f"the model of {self.name} says {found:g} s at n = {n:g}", "it does not hold there")
        return found

    def interval_s(self, n: float, p: float = 1) -> tuple[float, float]:
        """The lowest and the highest time; the time itself where no interval is known."""
        time = self.time_s(n, p)
        low = self.low(n, p) if self.low else time
        high = self.high(n, p) if self.high else time
        return min(max(low, 0.0), time), max(high, time)


def save_models(models: dict[str, MachineModel], path: str | Path) -> None:
    """Write the repository."""
    data = {"format": FORMAT, "version": 1, "machines": [_as_json(model) for model in models.values()]}
    with whole_file(path) as file:
        file.write((json.dumps(data, indent=2) + "\n").encode())


def _as_json(model: MachineModel) -> dict[str, object]:
    texts = {"time": model.time, "low": model.low, "high": model.high}
    return {
        "name": model.name,
        **{key: formula.text for key, formula in texts.items() if formula},
        **({"sizes": list(model.sizes)} if model.sizes else {}),
        "features": model.features,
    }


def load_models(path: str | Path) -> dict[str, MachineModel]:
    """The models by name. Raises TracelibError for a file that is no repository."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise TracelibError(
            f"{path} is no repository of machines", "analyze balance --learn TIMES makes one"
        ) from error
    try:
        if data["format"] != FORMAT or data["version"] != 1:
            raise ValueError
        models = [_of_json(one) for one in data["machines"]]
        return {model.name: model for model in models}
    except (LookupError, TypeError, ValueError) as error:
        raise TracelibError(
            f"{path} is no repository of machines", "analyze balance --learn TIMES makes one"
        ) from error


def _of_json(data: dict) -> MachineModel:
    formulas = [Formula(str(data[key])) if key in data else None for key in ("time", "low", "high")]
    if formulas[0] is None:
        raise ValueError
    sizes = data.get("sizes")
    limits = (float(sizes[0]), float(sizes[1])) if sizes else None
    features = {str(key): str(value) for key, value in dict(data.get("features", {})).items()}
    return MachineModel(str(data["name"]), formulas[0], formulas[1], formulas[2], limits, features)
