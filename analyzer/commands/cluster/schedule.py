"""`analyze schedule`: what predictions of run times buy on a machine with a batch scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Output, Refuses, command
from analyzer.commands.shared.options import FiniteRange, LazyChoice, rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_replaceable, checked_picture

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.jobs.application import Application
    from analyzer.jobs.cluster import QueuePolicy
    from analyzer.jobs.study import WorkloadStudy
    from analyzer.jobs.swf import UsableJobs
    from analyzer.report.job_times import NodeTime, TimesByNodes
    from analyzer.report.jobs import SimulatedLog

_STUDY_NODES = 7


@command(
    "What better predictions buy with a batch scheduler.",
    place=Refuses("predicted run times have no places"),
    output="Write the first workload into this .swf file, as the last policy runs it.",
    json=1,
    alone=Alone("one process simulates", all_work=True),
)
@click.argument("log", type=click.Path(), required=False)
@click.option(
    "--nodes",
    type=click.IntRange(1),
    metavar="N",
    help="Number of nodes of the machine; with LOG, number of its processors.",
)
@click.option(
    "--policy",
    "policies",
    type=LazyChoice("analyzer.jobs.cluster", "QueuePolicy"),
    multiple=True,
    show_default="all",
    help="Policies to try.",
)
@click.option(
    "--jobs", type=click.IntRange(2), metavar="N", show_default="1674", help="Number of jobs of a generated workload."
)
@rare_option(
    "--application-jobs",
    "own",
    type=click.IntRange(1),
    metavar="N",
    show_default="31 % of the jobs",
    help="Number of jobs whose run time is predicted.",
)
@click.option(
    "--runs",
    "table",
    type=click.Path(),
    metavar="FILE",
    show_default="HPL",
    help="Table (.csv) of measured runs: columns nodes, run_s, and one with the predictions of each model.",
)
@click.option(
    "--model",
    "models",
    type=click.Path(),
    multiple=True,
    metavar="MODEL",
    help="Stored model that predicts run times from the parameters in --runs.",
)
@rare_option(
    "--share",
    "shares",
    type=FiniteRange(0, 100, min_open=True, max_open=True),
    multiple=True,
    metavar="PERCENT",
    show_default="2.2 and 30",
    help="Part of all node time that the predicted jobs take.",
)
@rare_option(
    "--load",
    type=FiniteRange(0, min_open=True),
    metavar="X",
    show_default="1",
    help="Node time that jobs ask for, relative to what the machine has.",
)
@rare_option(
    "--sigma",
    "ks",
    type=FiniteRange(0),
    multiple=True,
    metavar="K",
    show_default="1, 2, 3, 4",
    help="Number of standard deviations that are added to estimates.",
)
@click.option(
    "--workloads",
    type=click.IntRange(1),
    metavar="N",
    show_default="30",
    help="Number of workloads that are generated.",
)
@rare_option("--seed", type=click.IntRange(0), metavar="N", show_default="0", help="Seed of the first workload.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Draw run times by nodes, and the use of node time, into this .png or .svg file.",
)
def schedule_command(
    session: Session,
    log: str | None,
    nodes: int | None,
    policies: tuple[str, ...],
    picture: str | None,
    output: str | None,
    force: bool,
    **asked: object,
) -> Output:
    """Simulate the batch scheduler of a cluster, and print what good predictions of run times buy.

    Without LOG, workloads are generated. In each, an application runs among other jobs. Models predict its run time,
    and a job that runs longer than its estimate is cancelled. With LOG, a log in the Standard Workload Format (.swf,
    .swf.gz), its jobs are run by each policy, with the times that their users requested and with perfect predictions.
    """
    from analyzer.jobs.cluster import QueuePolicy

    chosen = tuple(QueuePolicy(name) for name in dict.fromkeys(policies)) or tuple(QueuePolicy)
    if output:
        if not output.endswith(".swf"):
            raise TracelibError(f"a workload is written as .swf, not as {output}", "name the output NAME.swf")
        check_replaceable(Path(output), [Path(log)] if log else [], force)
    drawn = checked_picture(picture, [log] if log else [], force)
    given = sorted(name for name, value in asked.items() if value not in (None, ()))
    if log is None:
        return _study(session, _asked(nodes, chosen, asked), output, drawn)
    if given:
        raise TracelibError(f"a log has its own jobs: --{_OPTIONS[given[0]]} is for generated ones", "leave one out")
    return _log(session, log, nodes, chosen, output, drawn)


def _draw(
    distributions: Sequence[TimesByNodes], parts: Sequence[tuple[str, Sequence[NodeTime]]], picture: Path | None
) -> None:
    if picture is None:
        return
    from analyzer.report.pictures.jobs import draw_schedules

    draw_schedules(distributions, parts, picture)


_OPTIONS = {
    "jobs": "jobs", "own": "application-jobs", "table": "runs", "models": "model", "shares": "share",
    "load": "load", "ks": "sigma", "workloads": "workloads", "seed": "seed",
}  # fmt: skip


def _asked(nodes: int | None, policies: tuple[QueuePolicy, ...], asked: dict) -> WorkloadStudy:
    from analyzer.jobs.generator import WorkloadDesign
    from analyzer.jobs.study import WorkloadStudy

    default = WorkloadDesign()
    jobs = asked["jobs"] or default.jobs
    own = asked["own"] or max(round(jobs * default.application_jobs / default.jobs), 1)
    application = _application(asked["table"], asked["models"])
    design = WorkloadDesign(jobs, own, nodes or _STUDY_NODES, asked["load"] or default.load, application=application)
    seed = asked["seed"] or 0
    seeds = tuple(range(seed, seed + (asked["workloads"] or 30)))
    shares = tuple(share / 100 for share in asked["shares"] or (2.2, 30.0))
    return WorkloadStudy(design, shares, asked["ks"] or (1.0, 2.0, 3.0, 4.0), seeds, policies)


def _application(table: str | None, models: Sequence[str]) -> Application:
    from analyzer.jobs.application import measured_application, predicted_application
    from analyzer.jobs.hpl import HPL
    from analyzer.models.model_file import model_name, read_model

    if not models:
        return measured_application(table) if table else HPL
    if table is None:
        raise TracelibError("--model predicts runs of a table", "name it: --runs CSV with nodes, run_s, ...", 2)
    return predicted_application(table, {model_name(file): read_model(file) for file in models})


def _study(session: Session, study: WorkloadStudy, output: str | None, picture: Path | None) -> Output:
    from analyzer.jobs.study import run_study
    from analyzer.report.job_times import study_distributions
    from analyzer.report.jobs import node_time_of_study
    from analyzer.results.schedule import ScheduleResult

    with session.step("Simulating") as progress:
        runs, pairs = run_study(study, progress)
    if output:
        _write_generated(study, output)
    distributions = list(study_distributions(study))
    _draw(distributions, node_time_of_study(study, runs), picture)
    lines = [f"\nWritten: {output}; next: analyze schedule {output}"] if output else []
    return Output.of(ScheduleResult(study, runs, pairs, distributions), lines=lines)


def _write_generated(study: WorkloadStudy, output: str) -> None:
    from analyzer.jobs.cluster import schedule
    from analyzer.jobs.generator import generate
    from analyzer.jobs.study import estimates_s
    from analyzer.jobs.swf import log_of, write_swf

    workload = generate(study.design, study.shares[0], study.seeds[0])
    model, deviation = next(iter(study.design.application.deviations.items()))
    estimate = estimates_s(workload, model, deviation, study.ks[-1])
    outcome = schedule(workload, study.design.nodes, study.policies[-1], estimate)
    write_swf(log_of(outcome, estimate, f"generated, seed {study.seeds[0]}"), output)


def _log(
    session: Session,
    path: str,
    nodes: int | None,
    policies: tuple[QueuePolicy, ...],
    output: str | None,
    picture: Path | None,
) -> Output:
    from analyzer.jobs.swf import read_swf, usable_jobs, with_waits, write_swf
    from analyzer.report.job_times import TimesByNodes
    from analyzer.report.jobs import node_time_of_log
    from analyzer.results.schedule import LogResult

    log = read_swf(path)
    nodes = nodes or log.nodes
    if nodes is None:
        raise TracelibError(f"{path} does not say how many processors its machine has", "give --nodes")
    usable = usable_jobs(log, nodes)
    for said in filter(None, (log.bad_lines, usable.without and f"jobs left out: {usable.without}")):
        click.echo(f"{Path(path).name}: {said}", err=True)
    with session.step("Simulating"):
        found = list(_simulated(usable, nodes, policies))
    if output:
        write_swf(with_waits(log, usable.row, found[-1].outcome), output)
    distribution = TimesByNodes.from_workloads(Path(path).name, "", [usable.workload])
    _draw([distribution], node_time_of_log(Path(path).name, found), picture)
    result = LogResult(path, log, nodes, len(usable.workload), usable.asked, distribution, found)
    return Output.of(result, lines=[f"\nWritten: {output}"] if output else [])


def _simulated(usable: UsableJobs, nodes: int, policies: tuple[QueuePolicy, ...]) -> Iterator[SimulatedLog]:
    from analyzer.jobs.cluster import schedule
    from analyzer.report.jobs import SimulatedLog

    for policy in policies:
        if not policy.needs_estimates:
            yield SimulatedLog(policy, "", schedule(usable.workload, nodes, policy))
            continue
        yield SimulatedLog(policy, "perfect", schedule(usable.workload, nodes, policy))
        if usable.asked:
            yield SimulatedLog(policy, "requested", schedule(usable.workload, nodes, policy, usable.requested_s))
