"""`analyze fit`: a formula for an observable, from a table of measurements; of runs, one for each of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.command import Alone, Refuses, Result, command
from analyzer.commands.model._composing import QuantityModel, predict_composed
from analyzer.commands.model._fit_runs import BY, Settings, fit_runs
from analyzer.commands.model._fit_table import Asked, fit_table
from analyzer.commands.model._measured_table import is_fitted_as_table
from analyzer.commands.model._stored_model import apply_stored, is_stored, predict_stored
from analyzer.commands.shared.options import FiniteRange, rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # pandas takes as long to import as all the rest: who asks for --help does not wait for it
    from analyzer.models.described_terms import FitOptions

_CRITERIA = ("aicc", "aic", "bic", "ebic")
_WEIGHTINGS = ("relative", "measured", "ordinary")
_SEARCHES = ("auto", "exact", "genetic", "elimination", "none")


class Point(click.ParamType):
    """Type of an option: values of parameters, such as p=512,n=160. The command gets a dict."""

    name = "point"

    def __init__(self, alone: str = "") -> None:
        self._alone = alone  # the parameter of a number without a name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, float]:
        if isinstance(value, dict):
            return value
        found: dict[str, float] = {}
        for part in str(value).split(","):
            if self._alone and "=" not in part:
                part = f"{self._alone}={part}"
            name, equals, number = part.partition("=")
            try:
                at = float(number)
            except ValueError:
                equals = ""
            if not equals or not name.strip() or name.strip() in found or not abs(at) < 1e100:
                self.fail(f"{value!r} is not a point such as p=512,n=160", param, ctx)
            found[name.strip()] = at
        return found


class CountsType(click.ParamType):
    """Type of an option: whole numbers, separated by commas, such as 16,32,64."""

    name = "counts"

    def __init__(self, least: int, most: int) -> None:
        self._range = click.IntRange(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        every = [self._range(part.strip(), param, ctx) for part in str(value).split(",")]
        return tuple(dict.fromkeys(every))


@command(
    "A formula for times of many runs, to predict other sizes.",
    ranks=Refuses("models are of whole runs"),
    place=Refuses("a table has no places, and shares of a run are of all its calls"),
    output="Name of the model, its pictures or its table, with or without ending.",
    json=1,
    alone=Alone("one process fits"),
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="TABLE | MODEL [TABLE] | RUN...")
@click.option("--observable", metavar="NAME", show_default="time, else CLOCK", help="Column that the formula explains.")
@click.option(
    "--parameters", metavar="NAME,...", show_default="those in --terms", help="Columns that the observable depends on."
)
@click.option("--region", metavar="NAME", help="TABLE: use only rows of this region.")
@click.option(
    "--where", multiple=True, metavar="EXPR", help="TABLE: use only rows for which this holds, such as 'p >= 64'."
)
@click.option("--by", type=click.Choice(BY), multiple=True, show_default="all", help="RUNs: model these kinds of time.")
@click.option(
    "--set",
    "settings",
    type=Settings(),
    multiple=True,
    metavar="NAME=X,...",
    help="RUNs: parameter, and its value in each run or where it stands (ARG2, ARG:-n, FILE:REGEX).",
)
@click.option(
    "--at",
    type=Point("ranks"),
    multiple=True,
    metavar="N",
    help="RUNs: predict at this number of ranks, or at ranks=N,n=X.",
)
@click.option(
    "--terms",
    metavar="GROUPS",
    show_default="chosen from the data",
    help="Candidate terms, such as {n,n^2},{1/p},{n*p}*.",
)
@click.option(
    "--formula",
    metavar="FORMULA|FILE",
    help="Find the coefficients of a formula such as c[0]+c[1]*n/p, or of a pragma in a C file.",
)
@rare_option(
    "--degree", type=click.IntRange(0), metavar="N", help="Largest number of groups whose elements are multiplied."
)
@click.option(
    "--predict",
    "points",
    type=Point(),
    multiple=True,
    metavar="P=X,N=Y",
    help="Predict the observable at these parameters.",
)
@click.option(
    "--compare",
    "compared",
    type=click.Path(),
    multiple=True,
    metavar="MODEL",
    help="Show this stored model beside the new one.",
)
@rare_option(
    "--compose",
    "composed",
    type=QuantityModel(),
    multiple=True,
    metavar="NAME=MODEL",
    help="Stored model that predicts a parameter, such as the number of cache misses.",
)
@rare_option(
    "--next",
    "following",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Name this number of measurements that would improve predictions most.",
)
@click.option(
    "--repetitions",
    type=click.Choice(["all", "min", "max", "mean", "median"]),
    default="all",
    show_default=True,
    help="Value that is taken of several measurements of one setting.",
)
@rare_option(
    "--criterion",
    type=click.Choice(_CRITERIA),
    default=_CRITERIA[0],
    show_default=True,
    help="Criterion that compares the models of --terms.",
)
@rare_option(
    "--weighting",
    type=click.Choice(_WEIGHTINGS),
    default=_WEIGHTINGS[0],
    show_default=True,
    help="Errors that the fit of --terms minimises: relative to the expected value (relative) or to the measured one "
    "(measured), or absolute (ordinary).",
)
@rare_option("--non-negative", is_flag=True, help="With --terms: allow no negative coefficient.")
@rare_option("--physical", is_flag=True, help="With --terms: allow no negative value, also at 4 times the parameters.")
@rare_option(
    "--max-error", type=FiniteRange(0, min_open=True), metavar="X", help="Exclude models with a larger relative error."
)
@rare_option(
    "--search",
    type=click.Choice(_SEARCHES),
    default=_SEARCHES[0],
    show_default=True,
    help="Search among the models of --terms (auto: exact up to 30 terms).",
)
@rare_option(
    "--coefficient-error",
    type=FiniteRange(0, min_open=True),
    default=0.5,
    show_default=True,
    metavar="X",
    help="elimination: largest relative error of a coefficient.",
)
@rare_option(
    "--population",
    type=CountsType(2, 10000),
    default="64",
    show_default=True,
    metavar="N,...",
    help="genetic: number of models; several numbers are compared.",
)
@rare_option(
    "--mutations",
    type=CountsType(0, 100),
    default="2",
    show_default=True,
    metavar="N,...",
    help="genetic: largest number of changes; several numbers are compared.",
)
@rare_option(
    "--patience",
    type=click.IntRange(1, 10000),
    default=30,
    show_default=True,
    metavar="N",
    help="genetic: number of generations without progress before it ends.",
)
@rare_option(
    "--searches",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    metavar="N",
    help="genetic: number of populations.",
)
@rare_option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N", help="Seed of the random numbers."
)
def fit_command(
    session: Session,
    files: tuple[str, ...],
    observable: str | None,
    parameters: str | None,
    region: str | None,
    formula: str | None,
    compared: tuple[str, ...],
    by: tuple[str, ...],
    settings: tuple[tuple[str, str], ...],
    at: tuple[dict, ...],
    terms: str | None,
    points: tuple[dict, ...],
    following: int | None,
    where: tuple[str, ...],
    composed: tuple[tuple[str, str], ...],
    output: str | None,
    force: bool,
    **options: Any,
) -> Result | None:
    """Find a formula for the observable of TABLE, and predict with it; predict with a stored MODEL; or find what will
    take a growing part of RUNs.

    TABLE is a CSV or Parquet file with a row for each measurement, TIA's XML, or a file of Extra-P (text, JSON,
    Talpas). Without --terms, terms are chosen from the data: powers and logarithms of the parameters, and their
    products. With --terms, all subsets of the terms are models, and the best one by the criterion is selected. With
    --formula, the coefficients of one formula are found.

    A prediction is what all likely models together expect. Its interval holds the expected value with 95 %
    probability. MODEL is the NAME.model.json of an earlier fit: it predicts without TABLE. If a TABLE is named too,
    the model predicts each of its rows.

    RUNs are traced runs of one program at three or more numbers of ranks, or sizes. Every MPI call by its place,
    region and cluster of bursts is modelled by itself. Those whose share of the run grows most are named first.
    """
    asked = Asked(observable, parameters, region, terms, formula, points, compared, following or 0, where, composed)
    if following and composed:
        raise TracelibError("--next names settings for one model", "leave out --compose, or --next", 2)
    if is_stored(files[0]):
        _check_stored(files, asked, output, by or settings or at)
        if len(files) == 1:
            return predict_composed(files[0], composed, points) if composed else predict_stored(files[0], points)
        return apply_stored(files[0], files[1], region, output=output, force=force) if session.speaks else None
    if parameters is None and not is_fitted_as_table(files, region, terms, formula):
        if unwanted := _of_tables(asked):
            raise TracelibError(f"{unwanted} is for a table", "name what it depends on: --parameters p,n", 2)
        return fit_runs(session, files, by, settings, at, terms, _options(**options), output, force)
    if by or settings or at:
        raise TracelibError("--by, --set and --at are for runs", "leave out --parameters, or these", 2)
    if len(files) > 1:
        raise TracelibError("a fit of columns takes one table", "join several with analyze table", 2)
    if formula is not None and (terms is not None or options["search"] not in ("auto", "none")):
        raise TracelibError("--formula is one model", "leave out --terms and --search, or --formula", 2)
    if not session.speaks:
        return None
    return fit_table(files[0], asked, _options(**options), output=output, force=force)


def _of_tables(asked: Asked) -> str:
    """Return the option that only a table has; "": none was given."""
    given: dict[str, object] = {
        "--predict": asked.points, "--region": asked.region, "--compare": asked.compared,
        "--next": asked.following, "--where": asked.where, "--compose": asked.composed,
    }  # fmt: skip
    return next((name for name, value in given.items() if value), "")


def _check_stored(files: Sequence[str], asked: Asked, output: str | None, of_runs: object) -> None:
    """Raise TracelibError if options that only a fit has are given with a stored model."""
    of_fits = (
        asked.observable,
        asked.parameters,
        asked.terms,
        asked.formula,
        asked.compared,
        asked.following,
        asked.where,
        of_runs,
    )
    if len(files) == 1 and (any(of_fits) or output or asked.region):
        raise TracelibError(f"{files[0]} is a model that was fitted", "it takes --predict, or a table after it", 2)
    if len(files) > 1 and (any(of_fits) or asked.points or asked.composed or len(files) > 2):
        raise TracelibError(f"{files[0]} is a model that was fitted", "it takes one table, --region and -o", 2)


def _options(
    degree: int | None, repetitions: str, criterion: str, weighting: str, non_negative: bool, physical: bool,
    max_error: float | None, search: str, coefficient_error: float, population: tuple[int, ...],
    mutations: tuple[int, ...], patience: int, searches: int, seed: int,
) -> FitOptions:  # fmt: skip
    from analyzer.models.described_terms import FitOptions
    from analyzer.models.search.genetic import GeneticOptions

    genetics = tuple(GeneticOptions(mu, nu, patience, seed, searches) for mu in population for nu in mutations)
    return FitOptions(
        degree, criterion, weighting, search, genetics, max_error, non_negative, physical, repetitions,
        coefficient_error,
    )  # fmt: skip
