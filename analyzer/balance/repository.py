"""Repository of models of machines: one model for each type of machine, with the machine's features.

Source: search-and-balance specification, section 2 (AME, P1). A stored model consists of formulas. It predicts without
the data to which it was fitted.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.atomic_file import whole_file
from analyzer.balance.formula import TimeFormula
from analyzer.balance.parts import MachinePart
from analyzer.errors import TracelibError

FORMAT = "tracelib-machines"
"""Name of the file format."""


@dataclass(frozen=True)
class MachineModel:
    """Model of a program's time on one type of machine. Formulas are in s, of the size n and the number of processes p.

    Attributes:
        name: Name of the type of machine.
        time: Time of the program.
        low: Lowest time. None: not known.
        high: Highest time. None: not known.
        sizes: Smallest and largest n to which the model was fitted. None: not known.
        features: Features of the machine.
        parts: Parts of the program, whose sum is `time`. (): all of the time is shared work.
    """

    name: str
    time: TimeFormula
    low: TimeFormula | None = None  # lowest and highest time
    high: TimeFormula | None = None
    sizes: tuple[float, float] | None = None  # smallest and largest n that it was fitted to
    features: dict[str, str] = field(default_factory=dict)
    parts: tuple[MachinePart, ...] = ()  # whose sum `time` is; none: all of the time is shared work

    def time_s(self, n: float, p: float = 1) -> float:
        """Return the time delta(p, n), s.

        Raises:
            TracelibError: The formula gives a time that is not above 0.
        """
        found = self.time(n, p)
        if found <= 0:
            raise TracelibError(f"the model of {self.name} says {found:g} s at n = {n:g}", "it does not hold there")
        return found

    def interval_s(self, n: float, p: float = 1) -> tuple[float, float]:
        """Return the lowest and the highest time, s. If no interval is known, both are the time itself."""
        time = self.time_s(n, p)
        low = self.low(n, p) if self.low else time
        high = self.high(n, p) if self.high else time
        return min(max(low, 0.0), time), max(high, time)

    def whole_s(self, n: float, processes: int) -> float:
        """Predict the time of all shared work on one machine, s.

        Args:
            n: Size of the problem.
            processes: Number of processes of the program.

        Raises:
            TracelibError: There is no shared work.
        """
        if not self.parts:
            return self.time_s(n)
        found = processes * sum(part.shared_s(n, processes) for part in self.parts)
        if found <= 0:
            raise TracelibError(
                f"no computing of {self.name} falls with the number of ranks at n = {n:g}: nothing is shared",
                "did ranks wait for CPUs? runs of one number of ranks share all computing",
            )
        return found

    def fixed_s(self, n: float, processes: int) -> float:
        """Predict the time of a process that does not depend on its share of the work, s.

        This is communication, and computing that every process repeats.
        """
        return sum(part.fixed_s(n, processes) for part in self.parts)

    def process_s(self, n: float, share: float, processes: int) -> float:
        """Predict the time of a process with a share of the work, s (formulas 2 and 14).

        Args:
            n: Size of the problem.
            share: Share of the work, 0 to 1.
            processes: Number of processes of the program.
        """
        return share * self.whole_s(n, processes) + self.fixed_s(n, processes)

    def process_interval_s(self, n: float, share: float, processes: int) -> tuple[float, float]:
        """Return the lowest and the highest time of a process with a share of the work, s.

        The errors of the parts count as independent of each other. Arguments are as in `process_s`.
        """
        if not self.parts:
            low, high = self.interval_s(n)
            return share * low, share * high
        time, reach = self.process_s(n, share, processes), 0.0
        for part in self.parts:
            shared, fixed = part.shared_s(n, processes), part.fixed_s(n, processes)
            grows = (share * processes * shared + fixed) / (shared + fixed) if shared + fixed else 1.0
            reach = math.hypot(reach, grows * part.reach_s(n, processes))
        return max(time - reach, 0.0), time + reach


def save_models(models: dict[str, MachineModel], path: str | Path) -> None:
    """Write a repository of models to a file, which appears whole or not at all."""
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
        **({"parts": [_part_as_json(part) for part in model.parts]} if model.parts else {}),
    }


def _part_as_json(part: MachinePart) -> dict[str, str]:
    texts = {"shared": part.shared, "fixed": part.fixed, "reach": part.reach}
    return {"kind": part.kind, "name": part.name, **{key: one.text for key, one in texts.items() if one}}


def load_models(path: str | Path) -> dict[str, MachineModel]:
    """Read a repository of models, by name of the machine.

    Raises:
        TracelibError: The file cannot be read, or is no repository.
    """
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
    formulas = [TimeFormula(str(data[key])) if key in data else None for key in ("time", "low", "high")]
    if formulas[0] is None:
        raise ValueError
    sizes = data.get("sizes")
    limits = (float(sizes[0]), float(sizes[1])) if sizes else None
    features = {str(key): str(value) for key, value in dict(data.get("features", {})).items()}
    parts = tuple(_part_of_json(part) for part in data.get("parts", ()))
    return MachineModel(str(data["name"]), formulas[0], formulas[1], formulas[2], limits, features, parts)


def _part_of_json(data: dict) -> MachinePart:
    own, same, half = (TimeFormula(str(data[key])) if key in data else None for key in ("shared", "fixed", "reach"))
    return MachinePart(str(data["kind"]), str(data["name"]), own, same, half)
