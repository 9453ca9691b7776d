"""`analyze clusters`: the kinds of bursts of a run, a picture of them, and the file that --cluster reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Opens, Output, Refuses, command
from analyzer.commands.shared.options import FiniteRange, LatencyType, rare_option
from analyzer.commands.shared.session import Session
from analyzer.results.open_part import chosen_windows
from analyzer.results.output_files import check_writable, output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace import Trace


@command(
    "Which kinds of CPU bursts there are.",
    opens=Opens(whole=True),
    iterations=True,
    ranks=Refuses("the bursts of all ranks are clustered together"),
    place=Refuses("bursts lie between all calls"),
    output="Name of the files, without ending, or a folder for them.",
    json=1,
)
@rare_option(
    "--method",
    type=click.Choice(["dbscan", "kmeans"]),
    default="dbscan",
    show_default=True,
    help="Method of clustering.",
)
@click.option("--counter", "counters", multiple=True, metavar="NAME", help="Cluster by this counter, too.")
@rare_option(
    "--reach",
    type=FiniteRange(0, min_open=True),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="dbscan: largest relative difference of neighbouring bursts.",
)
@rare_option(
    "--least",
    type=click.IntRange(1),
    metavar="N",
    show_default="0.5 % of the sample",
    help="dbscan: number of neighbours from which a burst is dense.",
)
@click.option(
    "-k",
    "--kinds",
    type=click.IntRange(1, 1000),
    default=4,
    show_default=True,
    metavar="N",
    help="kmeans: number of clusters.",
)
@rare_option(
    "--shortest",
    "shortest_ns",
    type=LatencyType(),
    default="0",
    metavar="TIME",
    help="Leave out shorter bursts, such as 2us.",
)
@click.option("--prv", is_flag=True, help="Write a Paraver trace with the cluster of each burst (event 90000001).")
def clusters_command(
    session: Session,
    trace: Trace,
    method: str,
    counters: tuple[str, ...],
    reach: float,
    least: int | None,
    kinds: int,
    shortest_ns: int,
    prv: bool,
    output: str | None,
    force: bool,
) -> Output:
    """Find the kinds of CPU bursts in FILE: bursts that are alike in duration and counters. Write what tells them
    apart (NAME.clusters.json) and a picture (NAME.clusters.png).

    Other commands then count only the bursts of one cluster as computing, with --cluster N. With --iteration, kinds are
    found, and bursts are counted, in these iterations only; the file tells the kinds in the whole run.
    """
    from analyzer.burst_clusters.model import ENDING, write_clusters
    from analyzer.burst_clusters.views import WithClusters
    from analyzer.results.clusters import compute
    from analyzer.results.write_traces import write_paraver

    base = output_base(Path(trace.path), output, (ENDING, ".clusters.png", ".clusters.prv"))
    model, picture = (base.with_name(base.name + ending) for ending in (ENDING, ".clusters.png"))
    for path in (model, picture):
        check_writable(path, trace, force)
    stretches = chosen_windows(session, trace)
    with session.step("Clustering bursts"):
        result = compute(
            trace, session.team, method=method, counters=counters, reach=reach, least=least, kinds=kinds,
            shortest_ns=shortest_ns, stretches=stretches,
        )  # fmt: skip
    if session.speaks:
        from analyzer.report.pictures.clusters import draw_clusters

        write_clusters(result._found.clusters, model)
        draw_clusters(result._found, picture)
    written = [model, picture]
    if prv:
        annotated = WithClusters(trace, result._found.clusters)
        written += write_paraver(annotated, base.with_name(f"{base.name}.clusters"), session, force)
    names = [str(path) for path in written]
    return Output.of(result, numbers={"written": names}, lines=[f"\nWritten: {', '.join(names)}"])
