"""`analyze clusters`: the kinds of bursts of a run, a picture of them, and the file that --cluster reads."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.command import Refuses, command
from analyzer.commands.shared.iteration_option import wanted_windows
from analyzer.commands.shared.options import FiniteRange, LatencyType, file_argument, rare_option
from analyzer.commands.shared.outputs import check_writable, output_base
from analyzer.commands.shared.session import Session


@command(
    "Which kinds of CPU bursts there are.",
    iterations=True,
    ranks=Refuses("the bursts of all ranks are clustered together"),
    place=Refuses("bursts lie between all calls"),
    output="Name of the files, without ending, or a folder for them.",
    json=1,
)
@file_argument
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
    file: str,
    method: str,
    counters: tuple[str, ...],
    reach: float,
    least: int | None,
    kinds: int,
    shortest_ns: int,
    prv: bool,
    output: str | None,
    force: bool,
) -> None:
    """Find the kinds of CPU bursts in FILE: bursts that are alike in duration and counters. Write what tells them
    apart (NAME.clusters.json) and a picture (NAME.clusters.png).

    Other commands then count only the bursts of one cluster as computing, with --cluster N. With --iteration, kinds are
    found, and bursts are counted, in these iterations only; the file tells the kinds in the whole run.
    """
    from analyzer.burst_clusters.model import ENDING, write_clusters
    from analyzer.burst_clusters.views import WithClusters
    from analyzer.opening import open_trace
    from analyzer.results.clusters import compute
    from analyzer.results.write_traces import write_paraver

    trace = open_trace(file, session.team)
    session.mention_problems(trace)
    try:
        base = output_base(Path(trace.path), output, (ENDING, ".clusters.png", ".clusters.prv"))
        model, picture = (base.with_name(base.name + ending) for ending in (ENDING, ".clusters.png"))
        for path in (model, picture):
            check_writable(path, trace, force)
        stretches = wanted_windows(session, trace)
        with session.step("Clustering bursts"):
            result = compute(
                trace,
                session.team,
                method=method,
                counters=counters,
                reach=reach,
                least=least,
                kinds=kinds,
                shortest_ns=shortest_ns,
                stretches=stretches,
            )
        if session.speaks:
            from analyzer.report.pictures.clusters import draw_clusters

            write_clusters(result._found.clusters, model)
            draw_clusters(result._found, picture)
        written = [model, picture]
        if prv:
            annotated = WithClusters(trace, result._found.clusters)
            written += write_paraver(annotated, base.with_name(f"{base.name}.clusters"), session, force)
        if session.as_json:
            session.print_json(result.to_dict() | {"written": [str(path) for path in written]})
        elif not session.quiet:
            session.print(result.print)
            session.say(f"\nWritten: {', '.join(map(str, written))}")
    finally:
        trace.close()
