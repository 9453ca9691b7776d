"""A study as a TOML file: what is drawn, what is run, what is kept of it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b, file_digest
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.errors import TracelibError, about
from analyzer.machine.toml_table import TomlTable
from analyzer.montecarlo.distribution import DESIGNS, LATIN, VariedParameter, distribution, points
from analyzer.shots import study_values
from analyzer.shots.job import JobTemplate, read_job
from analyzer.shots.outputs import ShotOutput, read_outputs
from analyzer.shots.study_values import Value, filled


@dataclass(frozen=True)
class InputVariable:
    """A number of a program's input; any number, unless it is a whole one."""

    name: str
    whole: bool = False
    unit: str = ""
    least: float = -inf
    positive: bool = False


def read_variables(table: TomlTable) -> tuple[VariedParameter, ...]:
    """Read the variables of a study file, in its order. Raises TracelibError."""
    given = table.rest()
    if not given:
        raise TracelibError("there are no variables", 'write [variables] and NAME = "900..1100" below it')
    return tuple(_variable(name, value) for name, value in given.items())


def _variable(name: str, value: Any) -> VariedParameter:
    study_values.name("a variable", name)
    if isinstance(value, Mapping):
        table = TomlTable(f"[variables.{name}]", value, "docs/analyze-study.md")
        law, is_whole = study_values.text(f"{name}.from", table.take("from", "")), table.flag("whole")
        table.end()
    else:
        law, is_whole = study_values.text(name, value), False
    return distribution(InputVariable(name, is_whole), f"{name}={law}", _two_numbers)


def _two_numbers(of: InputVariable, *texts: str) -> tuple[float, float]:
    first, last = (study_values.number(text) for text in texts)
    if first is None or last is None:
        raise TracelibError(f"{of.name} = {', '.join(texts)!r}", "the values of a variable must be numbers")
    return first, last


def draw(varied: Sequence[VariedParameter], design: str, count: int, seed: int) -> np.ndarray:
    """Draw values of all shots, float64 of shape (count, variables)."""
    cube = points(design, count, len(varied), seed & (2**64 - 1))
    return np.array([[of.at(u) for of, u in zip(varied, row, strict=True)] for row in cube.tolist()])


MOST = 10_000
"""Most shots of a study that ends when its means are known, unless it says how many."""
_SAMPLES = 100
_PATIENCE_S = 600.0


@dataclass(frozen=True)
class ShotPlan:
    """A study.

    until: the share of each output's mean to which it is to be known; None: all shots are run.
    hosts: the file that names the hosts; None: this host alone.
    patience_s: how long the study waits while none of its hosts answers.
    """

    path: Path
    varied: tuple[VariedParameter, ...]
    job: JobTemplate
    outputs: tuple[ShotOutput, ...]
    samples: int = _SAMPLES
    design: str = DESIGNS[0]
    seed: int = 0
    until: float | None = None
    hosts: Path | None = None
    patience_s: float = _PATIENCE_S

    @cached_property
    def values(self) -> np.ndarray:
        """Draw the values of all shots, float64 of shape (samples, variables)."""
        return draw(self.varied, self.design, self.samples, self.seed)

    def named(self, shot: int, row: np.ndarray, host: str) -> dict[str, Value]:
        """Return the values of a shot's placeholders by name; row: the values of its variables."""
        drawn = {of.name: int(x) if of.whole else float(x) for of, x in zip(self.varied, row, strict=True)}
        return {**drawn, "shot": shot, "seed": self.seed + shot, "host": host}

    def texts(self, shot: int, row: np.ndarray, host: str) -> dict[str, str]:
        """Fill the job script (under "") and the templates of a shot. Raises TracelibError."""
        values = self.named(shot, row, host)
        texts = {file: filled(self.job.template(file), values, file) for file in self.job.templates}
        return {"": filled(self.job.script, values, self.job.where), **texts}

    def check(self) -> None:
        """Raise TracelibError if no shot could be run: a file is missing, a placeholder stands for nothing."""
        self.job.check(of.name for of in self.varied)
        self.texts(1, self.values[0], "host")

    @property
    def question(self) -> dict[str, Any]:
        """Describe what the study asks: results of another question are not mixed with these."""
        job = self.job
        parts = [job.script, *(job.template(file) for file in job.templates), *map(_contents, job.input_files())]
        question: dict[str, Any] = {
            "variables": [of.text + (" whole" if of.whole else "") for of in self.varied],
            "design": self.design,
            "seed": self.seed,
            "job": _digest(parts),
        }
        return question | ({"samples": self.samples} if self.design == LATIN else {})

    @property
    def reads(self) -> str:
        """A checksum of what is read from the files of a shot."""
        return _digest([repr(output) for output in self.outputs])


def _digest(parts: list[str]) -> str:
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _contents(path: Path) -> str:
    with path.open("rb") as file:
        return f"{path.name} {file_digest(file, 'sha256').hexdigest()}"


def read_plan(path: Path, changes: Mapping[str, Any] = {}) -> ShotPlan:
    """Read a study.

    Args:
        path: The TOML file. The files that it names stand beside it.
        changes: Values of samples, until, seed, hosts (a path) that count instead of those in the file.

    Raises:
        TracelibError: The file, or one that it names, is not as it must be.
    """
    try:
        given = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", "name a study: docs/analyze-study.md") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TracelibError(f"{path}: not a TOML file: {error}") from error
    with about(path):
        plan = _plan(path, {**given, **{key: value for key, value in changes.items() if key != "hosts"}})
        plan.check()
    if changes.get("hosts"):
        plan = replace(plan, hosts=Path(changes["hosts"]))
    return plan


def _plan(path: Path, given: Mapping[str, Any]) -> ShotPlan:
    top = TomlTable("the study", given, "docs/analyze-study.md")
    design, until = top.choice("design", DESIGNS), top.take("until", None)
    share = None if until is None else read_share(until)
    if share is not None and design == LATIN:
        raise TracelibError("a Latin hypercube needs a fixed number of shots", "leave out until, or use another design")
    samples = study_values.whole("samples", top.take("samples", MOST if share is not None else _SAMPLES), 1)
    hosts = top.take("hosts", None)
    plan = ShotPlan(
        path,
        read_variables(top.table("variables")),
        read_job(top.table("job"), path.parent),
        read_outputs(top.table("outputs")),
        samples=samples,
        design=design,
        seed=study_values.whole("seed", top.take("seed", 0), 0),
        until=share,
        hosts=path.parent / hosts if isinstance(hosts, str) else path if hosts is not None else None,
        patience_s=study_values.seconds("patience", top.take("patience", "10min")),
    )
    top.end()
    names = [of.name for of in plan.varied]
    if both := [output.name for output in plan.outputs if output.name in names]:
        raise TracelibError(f"{both[0]} is a variable and an output", "call one of them otherwise")
    return plan


def read_share(text: Any) -> float:
    """Parse a percentage such as "1%" as a share. Raises TracelibError."""
    found = study_values.number(str(text).strip().removesuffix("%"))
    if found is None or not 0 < found < 100:
        raise TracelibError(f"until = {text!r} is not a percentage above 0 and below 100", 'write for example "1%"')
    return found / 100
