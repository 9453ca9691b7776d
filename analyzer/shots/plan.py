"""A study as a TOML file: variables that are drawn, the job that is run, outputs that are kept."""

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
    """An input of the program whose value is drawn for each shot.

    Attributes:
        whole: The values are whole numbers.
        least: Smallest value that is allowed.
        positive: Values must be above 0.
    """

    name: str
    whole: bool = False
    unit: str = ""
    least: float = -inf
    positive: bool = False


def read_variables(table: TomlTable) -> tuple[VariedParameter, ...]:
    """Read the table [variables] of a study file, in the order of the file.

    Raises:
        TracelibError: There are no variables, or a distribution is not valid.
    """
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
    """Draw the values of all shots.

    Args:
        varied: Distributions of the variables.
        design: Name of the sampling design, see `DESIGNS`.
        count: Number of shots.
        seed: Seed of the random numbers.

    Returns:
        Values, float64 of shape (count, variables).
    """
    cube = points(design, count, len(varied), seed & (2**64 - 1))
    return np.array([[of.at(u) for of, u in zip(varied, row, strict=True)] for row in cube.tolist()])


MOST = 10_000
"""Default of the largest number of shots, for a study that ends when the means of its outputs are known."""
_SAMPLES = 100
_PATIENCE_S = 600.0


@dataclass(frozen=True)
class ShotPlan:
    """A study of a program: variables, job, outputs, hosts, and the number of shots.

    Attributes:
        samples: Number of shots; with `until`, the largest number.
        design: Name of the sampling design, see `DESIGNS`.
        until: Precision to which the mean of each output must be known, as a share of that mean. The study then ends.
            None: all shots are run.
        hosts: File that names the hosts. None: this machine is the only host.
        patience_s: Time in s for which the study waits while none of its hosts answers.
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
        """Values of all shots, float64 of shape (samples, variables). They are drawn at the first use."""
        return draw(self.varied, self.design, self.samples, self.seed)

    def named(self, shot: int, row: np.ndarray, host: str) -> dict[str, Value]:
        """Return the value of each placeholder of a shot by name.

        Args:
            shot: The shot's number, from 1.
            row: Values of the shot's variables, shape (variables,).
            host: Name of the shot's host.
        """
        drawn = {of.name: int(x) if of.whole else float(x) for of, x in zip(self.varied, row, strict=True)}
        return {**drawn, "shot": shot, "seed": self.seed + shot, "host": host}

    def texts(self, shot: int, row: np.ndarray, host: str) -> dict[str, str]:
        """Return job script and templates with the values of a shot in place of the placeholders.

        Args:
            shot: The shot's number, from 1.
            row: Values of the shot's variables, shape (variables,).
            host: Name of the shot's host.

        Returns:
            Texts by the template's name. The job script has the name "".

        Raises:
            TracelibError: A placeholder is not known.
        """
        values = self.named(shot, row, host)
        texts = {file: filled(self.job.template(file), values, file) for file in self.job.templates}
        return {"": filled(self.job.script, values, self.job.where), **texts}

    def check(self) -> None:
        """Check that a shot can be run.

        Raises:
            TracelibError: A file is missing, a placeholder is not known, or a variable is not used.
        """
        self.job.check(of.name for of in self.varied)
        self.texts(1, self.values[0], "host")

    @property
    def question(self) -> dict[str, Any]:
        """Everything that determines the shots: variables, design, seed, and a checksum of script and files.

        Results are mixed only with results of an equal question.
        """
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
        """Checksum of the definitions of all outputs, which tells whether recorded outputs are still valid."""
        return _digest([repr(output) for output in self.outputs])


def _digest(parts: list[str]) -> str:
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _contents(path: Path) -> str:
    with path.open("rb") as file:
        return f"{path.name} {file_digest(file, 'sha256').hexdigest()}"


def read_plan(path: Path, changes: Mapping[str, Any] = {}) -> ShotPlan:
    """Read a study file.

    Args:
        path: The TOML file. The files that it names stand beside it.
        changes: Values of samples, until, seed and hosts (a path) that replace the values in the file.

    Raises:
        TracelibError: The file, or a file that it names, is missing or not valid.
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
    """Parse a percentage such as "1%" into a share such as 0.01.

    Raises:
        TracelibError: The text is not a percentage above 0 and below 100.
    """
    found = study_values.number(str(text).strip().removesuffix("%"))
    if found is None or not 0 < found < 100:
        raise TracelibError(f"until = {text!r} is not a percentage above 0 and below 100", 'write for example "1%"')
    return found / 100
