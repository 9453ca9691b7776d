"""Workers that do jobs: threads of this process, or under mpirun the processes of the team, each one job at a time.

A worker that has ended a job gets the next one, so that a slow or busy worker gets fewer ("Dimemas specification",
section 1.17, the scheduler of Promenvir).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any, cast

from analyzer.montecarlo.replay_jobs import ReplayJob, ReplayOutcome, WorkerInput
from analyzer.montecarlo.results_file import JobJournal
from analyzer.parallel import Team

_AHEAD = 8
"""Number of jobs that are handed out in advance for each worker, so that no worker waits.

They are few: all of them are lost if the study is interrupted, and its end waits for jobs under way.
"""


class JobWorkers:
    """Workers that do each job only once. Outcomes are kept in a journal."""

    def __init__(self, executor: Executor, count: int, journal: JobJournal) -> None:
        """Prepare to do jobs.

        Args:
            executor: Executor that runs the jobs.
            count: Number of workers.
            journal: Known outcomes; new ones are added.
        """
        self._executor, self._ahead, self._journal = executor, _AHEAD * count, journal

    def do_all(self, jobs: Sequence[ReplayJob]) -> list[ReplayOutcome]:
        """Do jobs, and return their outcomes in the order of the jobs. Each outcome is added to the journal at once."""
        waiting = iter([job for job in dict.fromkeys(jobs) if self._journal.get(job) is None])
        given: dict[Future[ReplayOutcome], ReplayJob] = {}
        try:
            given.update((self._executor.submit(_do, job), job) for job in islice(waiting, self._ahead))
            while given:
                done, _ = wait(given, return_when=FIRST_COMPLETED)
                for future in done:
                    self._journal.add(given.pop(future), future.result())
                given.update((self._executor.submit(_do, job), job) for job in islice(waiting, len(done)))
        finally:
            for future in given:
                future.cancel()
        return [outcome for job in jobs if (outcome := self._journal.get(job)) is not None]

    def do(self, job: ReplayJob) -> ReplayOutcome:
        """Do one job, and return its outcome."""
        return self.do_all([job])[0]


@contextmanager
def workers(
    study: WorkerInput, journal: JobJournal | None, team: Team, jobs: int | None = None
) -> Iterator[JobWorkers | None]:
    """Context manager that gives workers on the first member of a team.

    On other members it gives None, after they have done their jobs. All members call this with the same study. In a
    team of one, `jobs` threads of this process work: the simulator runs outside of Python's lock.

    Args:
        study: What a worker needs for all jobs.
        journal: Known outcomes, on the first member; new ones are added.
        team: Processes that share the jobs.
        jobs: Number of threads in a team of one. None: one for each CPU.
    """
    global _study
    _study = study
    count = jobs or len(os.sched_getaffinity(0)) if team.size == 1 else team.size
    with _executor(team, count) as executor:
        yield JobWorkers(executor, count, journal) if executor is not None and journal is not None else None


@contextmanager
def _executor(team: Team, count: int) -> Iterator[Executor | None]:
    if team.size == 1:
        with ThreadPoolExecutor(count) as executor:
            yield executor
        return
    from mpi4py.futures import MPICommExecutor

    with MPICommExecutor() as others:
        if others is None:
            yield None
            return
        with ThreadPoolExecutor(1) as own:
            yield _AlsoHere(own, cast(Executor, others), team.size - 1)


class _AlsoHere(Executor):
    """Executor that also uses a thread of this process. It gets a job if it has fewer than each other process."""

    def __init__(self, own: Executor, others: Executor, count: int) -> None:
        """Prepare to run jobs here and in other processes. `count`: number of other processes."""
        self._own, self._others, self._count = own, others, count
        self._of_own: list[Future] = []
        self._of_others: list[Future] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> Future:
        for futures in (self._of_own, self._of_others):
            futures[:] = [future for future in futures if not future.done()]
        here = len(self._of_own) * self._count < len(self._of_others)
        future = (self._own if here else self._others).submit(fn, *args, **named)
        (self._of_own if here else self._of_others).append(future)
        return future


_study: WorkerInput | None = None
"""Study of this process. Only jobs are sent between processes."""


def _do(job: ReplayJob) -> ReplayOutcome:
    assert _study is not None, "workers() has begun"
    return _study.do(job)
