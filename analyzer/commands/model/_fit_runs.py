"""`analyze fit` of runs: models of all their parts, by how their shares grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_replaceable

if TYPE_CHECKING:
    from analyzer.experiments.growth import TimeGrowth
    from analyzer.experiments.table import ExperimentTable
    from analyzer.models.described_terms import FitOptions
    from analyzer.results.fit import GrowthResult

BY = ("call", "region", "place", "cluster")
_DEFAULT = ("place", "region", "cluster")
_RANKS = "ranks"
_PARTS = ".parts.json"
_WORDS = {
    "call": "MPI calls", "region": "regions", "place": "MPI calls with places", "cluster": "kinds of bursts",
}  # fmt: skip
"""Words for messages: the objects that rows of each kind stand for."""


class Settings(click.ParamType):
    """n=64, n=64,128,256 or n=ARG2: (name, what is right of the =)."""

    name = "settings"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not equals or not name.strip().isidentifier() or not text.strip():
            self.fail(f"{value!r} is not NAME=VALUE, NAME=VALUE,VALUE,... or NAME=ARG2", param, ctx)
        return name.strip(), text.strip()


def fit_runs(
    session: Session, files: Sequence[str], by: Sequence[str], settings: Sequence[tuple[str, str]],
    points: Sequence[Mapping[str, float]], terms: str | None, options: FitOptions, output: str | None, force: bool,
) -> GrowthResult | None:  # fmt: skip
    """Fit models to the parts of runs. Collective over the team; one process has the result."""
    if output:
        if not output.endswith(_PARTS):
            raise TracelibError(f"models of parts are written as NAME{_PARTS}, not as {output}", f"-o NAME{_PARTS}", 2)
        check_replaceable(Path(output), [Path(file) for file in files], force)
    from analyzer.experiments.columns import RUN
    from analyzer.experiments.growth import growth
    from analyzer.experiments.kinds import MEASURED
    from analyzer.results.fit import GrowthResult

    found, notes = _table(session, files, tuple(by), settings)
    if not session.speaks:
        return None
    with session.step("Fitting"):
        factors = (*found.factors, *(name for name, _ in settings if name not in found.factors))
        if not found.factors:  # of tables nothing says which columns are settings
            factors = (*(n for n in found.frame.columns if n not in (RUN, *MEASURED)), *factors)
        grown = growth(found.frame, factors, points, terms, options)
    if output:
        _write(found, grown, output)
    return GrowthResult(files, grown, notes, output)


def _write(found: ExperimentTable, grown: TimeGrowth, output: str) -> None:
    """Write the models of the parts whose sum is the time of a run."""
    from analyzer.atomic_file import whole_file
    from analyzer.experiments.columns import RANKS
    from analyzer.models.part_file import PartModel, PartModels, parts_text

    parts = tuple(PartModel(part.kind, part.name, part.model) for part in grown.parts if part.is_in_sum)
    ranks = found.frame[RANKS].unique().tolist()
    with whole_file(Path(output)) as file:
        file.write(parts_text(PartModels(parts, 0 if _RANKS in grown.parameters else int(ranks[0]))))


def _table(
    session: Session, files: Sequence[str], by: tuple[str, ...], settings: Sequence[tuple[str, str]]
) -> tuple[ExperimentTable, list[str]]:
    """Make a table of all kinds of time of all runs, with the settings of each run as columns."""
    from analyzer.experiments.run_factors import RunFactor, value_of
    from analyzer.experiments.table import ExperimentTableOptions, table

    said, listed = [], []
    for name, text in settings:
        if text.startswith(("ARG", "FILE")):
            try:
                said.append(RunFactor.parse(f"{name}={text}"))
            except ValueError as error:
                raise TracelibError(str(error), "see analyze table --set", 2) from error
        else:
            listed.append((name, text.split(",")))
    values = {}
    for name, texts in _joined(listed).items():
        if len(texts) not in (1, len(files)):
            raise TracelibError(
                f"--set {name} has {len(texts)} values for {len(files)} runs",
                "give one for each run, in their order",
                2,
            )
        values[name] = [value_of(text.strip()) for text in texts * (len(files) if len(texts) == 1 else 1)]
    if len({str(Path(file)) for file in files}) < len(files):
        raise TracelibError("a run is named twice", "name each once", 2)
    chosen, notes = _with_clusters(by)
    with session.step("Reading"):
        found = table(files, ExperimentTableOptions(chosen, tuple(said)), session.team)
    if found.frame.empty:
        raise TracelibError(
            f"the runs have {', '.join(f'no {_WORDS[kind]}' for kind in chosen)}", "choose another --by"
        )
    for name, of_run in values.items():
        if name in found.frame.columns:
            raise TracelibError(f"the runs have a column {name} already", "give the parameter another name", 2)
        by_run = dict(zip((str(Path(file)) for file in files), of_run, strict=True))
        found.frame[name] = found.frame["run"].map(by_run)
    return found, notes


def _joined(listed: Sequence[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """Join repeated options: --set n=64 --set n=128 is --set n=64,128."""
    found: dict[str, list[str]] = {}
    for name, texts in listed:
        found[name] = [*found.get(name, []), *texts]
    return found


def _with_clusters(by: tuple[str, ...]) -> tuple[tuple[str, ...], list[str]]:
    """Return the kinds that were asked for, else all that can be had here. The time of a run is the sum of its
    calls."""
    if not by:
        from importlib.util import find_spec

        if find_spec("sklearn") is None:
            return _DEFAULT[:-1], ["Without clusters of bursts: these need pip install 'tracelib[clusters]'."]
        return _DEFAULT, []
    if not {"call", "place"} & set(by):
        return (*by, "place"), []
    if {"call", "place"} <= set(by):
        raise TracelibError("--by call and --by place are the same times twice", "choose one", 2)
    return by, []
