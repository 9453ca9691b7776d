"""`analyze study`: any program with random inputs, on any hosts."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.atomic_file import cannot_write
from analyzer.commands.command import Alone, Refuses, Result, command
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.shots.shot_records import ShotBook
from analyzer.signal_handling import EndRequested

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.shots.hosts import HostsFile
    from analyzer.shots.plan import ShotPlan
    from analyzer.shots.results import ShotResults

_BOOK, _TABLE, _PICTURE = "shots.jsonl", "results.csv", "results.png"


@command(
    "Run any program with random inputs: how its results spread.",
    place=Refuses("a study runs programs, whose calls it does not see"),
    json=1,
    alone=Alone("one process gives shots to hosts", all_work=True),
)
@click.argument("file", type=click.Path(), metavar="STUDY.toml")
@click.option(
    "-n", "--samples", type=click.IntRange(1), metavar="N", show_default="as STUDY.toml says", help="Number of shots."
)
@click.option(
    "--until",
    metavar="PERCENT",
    help="End when half the 95 % confidence interval of each output's mean is at most this share of the mean: 1%.",
)
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Seed of the random numbers.")
@click.option(
    "--hosts",
    type=click.Path(),
    metavar="FILE",
    help="File of the hosts that run shots; it is read again during the study.",
)
@click.option("--retry", is_flag=True, help="Run shots again that failed, hung or were lost.")
@click.option("-o", "--output", type=click.Path(), show_default="NAME.study", help="Folder of the study.")
@click.option("-f", "--force", is_flag=True, help="Begin again, and remove what the folder holds.")
def study_command(
    session: Session,
    file: str,
    samples: int | None,
    until: str | None,
    seed: int | None,
    hosts: str | None,
    retry: bool,
    output: str | None,
    force: bool,
) -> Result:
    """Run any program with inputs drawn at random. Print how its outputs spread, and which inputs they depend on.

    STUDY.toml names the variables and their distributions, a job script and input files with placeholders {{NAME}}, and
    where the outputs stand. Shots run on this host, on hosts that a command such as ssh reaches, or in a batch system.

    A study that was interrupted goes on where it stopped.
    """
    from analyzer.results.study import StudyResult
    from analyzer.shots.folder import shot_folder
    from analyzer.shots.hosts import HostsFile
    from analyzer.shots.plan import read_plan
    from analyzer.shots.results import ShotResults

    changes = {"samples": samples, "until": until, "seed": seed, "hosts": hosts}
    plan = read_plan(Path(file), {key: value for key, value in changes.items() if value is not None})
    found_hosts = HostsFile(plan.hosts)
    folder = Path(output) if output else Path(f"{Path(file).stem}.study")
    with closing(_opened(plan, folder, force)) as book:
        if retry:
            for shot in book.forget_failures():
                shot_folder(folder, shot).remove()
        count = _run(session, plan, book, folder, found_hosts)
        results = ShotResults(plan, [book.records[shot] for shot in range(1, count + 1)])
    return StudyResult(results, _write(results, folder))


def _opened(plan: ShotPlan, folder: Path, force: bool) -> ShotBook:
    """Return the results so far in the folder of a study. Raises TracelibError if it holds something else."""
    try:
        if folder.exists() and not (folder / _BOOK).is_file() and (not folder.is_dir() or any(folder.iterdir())):
            raise TracelibError(f"{folder} is no folder of a study", "name another one with -o")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    book = ShotBook(folder / _BOOK, plan.question, plan.reads, anew=force)
    if force:
        for old in (folder / "inputs", *folder.glob("shot-*")):
            shutil.rmtree(old, ignore_errors=True)
    return book


def _run(session: Session, plan: ShotPlan, book: ShotBook, folder: Path, hosts: HostsFile) -> int:
    """Run the shots that are missing; returns how many count."""
    from analyzer.shots.scheduler import ShotScheduler

    def say(line: str) -> None:
        session.mention([line])

    try:
        with session.step("Running") as progress:
            return ShotScheduler(plan, book, folder, hosts, say, progress=progress).run()
    except EndRequested:
        say(f"Ended after {len(book.records)} shots (the same command goes on from {folder})")
        raise


def _write(results: ShotResults, folder: Path) -> list[Path]:
    from analyzer.report.pictures.distributions import draw_results

    table, picture = folder / _TABLE, folder / _PICTURE
    results.write_csv(table)
    draw_results(results, picture)
    return [table, picture]
