"""`analyze loggp`: latency, overhead and gap of the network, from a measurement of it or from any traced run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Chooses, Result, command
from analyzer.commands.shared.options import file_argument, rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.network_measurement.options import (
    DEFAULTS,
    DETECTORS,
    FILTERS,
    METHODS,
    METRICS,
    NEIGHBOURS,
    TYPICAL,
    EstimateOptions,
)

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace.at_places import PlaceChoice


class FiltersType(click.ParamType):
    """Names of filters, separated by commas, or "none"."""

    name = "filter"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = tuple(name for name in str(value).split(",") if name != "none")
        if strange := [name for name in names if name not in FILTERS]:
            self.fail(f"{strange[0]!r} is not one of {', '.join(FILTERS)}, none", param, ctx)
        return names


class RankPairType(click.ParamType):
    """Two ranks, as "0,1"."""

    name = "ranks"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        words = str(value).split(",")
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            self.fail(f"{value!r} is not a pair of ranks such as 0,1", param, ctx)
        return int(words[0]), int(words[1])


_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@command(
    "Latency, overhead and gap of the network.",
    iterations=True,
    ranks=Chooses(),
    place=Chooses("messages that these calls send, or post the receive of"),
    output="Name of the files, without ending, or a folder for them.",
    json=1,
)
@file_argument
@rare_option(
    "--detector",
    type=click.Choice([*DETECTORS, "all"]),
    default=DETECTORS[0],
    show_default=True,
    help="Method that finds intervals of sizes (all: compare the methods).",
)
@rare_option("--pair", type=RankPairType(), metavar="A,B", help="Model only these two ranks.")
@click.option(
    "--filter",
    "rules",
    type=FiltersType(),
    default=TYPICAL,
    show_default=True,
    metavar="NAME,...",
    help=f"Rows that are left out: {','.join(FILTERS)} or none.",
)
@rare_option(
    "--level",
    type=click.IntRange(1),
    metavar="LEVEL",
    show_default="the fastest that nearly all sizes have",
    help="Use the rows of this level of speed (1: the fastest).",
)
@rare_option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    default=DEFAULTS.tolerance,
    show_default=True,
    metavar="SHARE",
    help="Largest deviation that is not a change.",
)
@rare_option(
    "--window",
    type=_SHARE,
    default=DEFAULTS.window,
    show_default=True,
    metavar="SHARE",
    help="thesis: share of the rows in a neighbourhood.",
)
@rare_option(
    "--neighbours",
    type=click.Choice(NEIGHBOURS),
    default=DEFAULTS.neighbours,
    show_default=True,
    help="thesis: quantity by which rows are neighbours.",
)
@rare_option(
    "--guard",
    type=click.FloatRange(0),
    default=DEFAULTS.guard,
    show_default=True,
    metavar="X",
    help="thesis: smallest jump, in standard deviations.",
)
@rare_option(
    "--method",
    type=click.Choice(METHODS),
    default=DEFAULTS.method,
    show_default=True,
    help="thesis: method that merges clusters.",
)
@rare_option(
    "--metric",
    type=click.Choice(METRICS),
    default=DEFAULTS.metric,
    show_default=True,
    help="thesis: distance of patterns.",
)
@rare_option(
    "--threshold",
    type=_SHARE,
    default=DEFAULTS.threshold,
    show_default=True,
    metavar="SHARE",
    help="thesis: smallest distance between centres of clusters, as a share of the largest possible distance.",
)
@rare_option(
    "--factor",
    type=click.FloatRange(1, min_open=True),
    default=DEFAULTS.factor,
    show_default=True,
    metavar="X",
    help="netgauge: growth of the residual at a change.",
)
def loggp(
    session: Session,
    file: str,
    detector: str,
    pair: tuple[int, int] | None,
    place: PlaceChoice | None,
    output: str | None,
    force: bool,
    **settings: object,
) -> Result | None:
    """Estimate the LoOgGP parameters of the network from FILE, a measurement by `python -m tracelib.ngmpi`. Print
    them, and write each model (NAME.intra.json, NAME.inter.json) and its picture (.png).

    FILE may also be a traced run. Then latency and bandwidth are estimated from its messages. Models are written only
    with -o, and of the other options only --ranks, --place and --iteration apply.
    """
    from analyzer.opening import is_network

    if is_network(file):
        if session.choice:
            raise TracelibError(f"{file} is a measurement of the network", "--pair names the two ranks to use", 2)
        if place or session.wanted:
            raise TracelibError(f"{file} is a measurement of the network", "it has no calls to choose from", 2)
        from analyzer.commands.network._network import model_network

        names = DETECTORS if detector == "all" else (detector,)
        if not session.speaks:
            return None
        return model_network(session, file, names, pair, EstimateOptions(**settings), output, force)  # type: ignore[arg-type]
    if pair:
        raise TracelibError(f"{file} is not a measurement of the network", "leave out --pair")
    from analyzer.commands.network._ways import time_messages

    return time_messages(session, file, place, output, force)
