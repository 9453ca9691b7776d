"""`analyze predict`: the speedup at more ranks than were run, and the factor that will be the worst there."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.command import Refuses, Result, command
from analyzer.commands.shared.options import LazyChoice
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.several import scaling_options
from analyzer.errors import TracelibError

_MOST_RANKS = 10**8
_MODELS = "models"


class RankCounts(click.ParamType):
    """Numbers of ranks such as 128 or 128,1024."""

    name = "ranks"

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        texts = value.split(",")
        if not all(text.isdecimal() and 0 < int(text) <= _MOST_RANKS for text in texts):
            self.fail(f"{value!r} is not a number of ranks such as 128, or several such as 128,1024", param, ctx)
        return tuple(map(int, texts))


@command(
    "Speedup at more ranks than were run, from several runs.",
    place=Refuses("efficiencies are of all that ranks compute, between whatever calls"),
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE FILE...")
@click.option(
    "--ranks",
    "counts",
    type=RankCounts(),
    multiple=True,
    required=True,
    metavar="N...",
    help="Numbers of ranks to predict.",
)
@click.option(
    "--form",
    type=LazyChoice("analyzer.speedup_model.extrapolation", "FORMS", _MODELS),
    default="log",
    show_default=True,
    help="Curve of each factor (log: a + b ln P; models: chosen from the data).",
)
@scaling_options
def predict_command(
    session: Session,
    files: tuple[str, ...],
    counts: tuple[tuple[int, ...], ...],
    form: str,
    region: str | None,
    whole: bool,
    scaling: str | None,
    eager_limit: int | None,
) -> Result:
    """Predict the speedup of a program at other numbers of ranks, from the runs FILE at three or more.

    Each factor of the speedup model (analyze speedup) is extrapolated by
    itself; their product is the predicted speedup. Beside it are the speedups
    that a line, a parabola and a + b ln P through the measured speedups give.
    A FILE with as many ranks as are to be predicted is not fitted, but compared.
    """
    from analyzer.results.speedup import extrapolate, measure_runs

    runs = [file for file in files if not _is_count(file)]
    wanted = {count for found in counts for count in found} | {int(file) for file in files if _is_count(file)}
    if not runs:
        raise TracelibError("no run to predict from", "analyze predict RUN RUN RUN --ranks 128")
    measured = measure_runs(session, runs, region=region, eager_limit=eager_limit, whole=whole)
    return extrapolate(measured, sorted(wanted), form=form, scaling=scaling)


def _is_count(text: str) -> bool:
    """Return True if what stands among the files is a further number of ranks: `--ranks 128 1024`."""
    return text.isdecimal() and 0 < int(text) <= _MOST_RANKS and not Path(text).exists()
