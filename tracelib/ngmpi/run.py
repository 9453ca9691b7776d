"""One measurement of the network, from its begin to its end, on all ranks."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

import click
import numpy as np
from mpi4py import MPI

from tracelib import _ngmpi
from tracelib.collectives.measure import measure as time_collectives
from tracelib.ngmpi import pairs, place, refine, store
from tracelib.ngmpi.crew import MeasuringCrew
from tracelib.ngmpi.loop import MeasurementClock, MessageLoops
from tracelib.ngmpi.measure import SeriesRunner, StopMeasuring
from tracelib.ngmpi.options import MeasurementOptions
from tracelib.ngmpi.series import PairSeries
from tracelib.ngmpi.stopping_rules import StoppingLimits, spread
from tracelib.schema import net

SAVED_EVERY_S, TOLD_EVERY_S = 1.0, 5.0
OF_INTEREST = re.compile(r"(OMPI_MCA_(btl|pml|mtl|coll|osc|mpi|rmaps|hwloc)|MPI4PY_RC_|UCX_|MPIR_|FI_|I_MPI_|PSM|MV2_)")
"""Environment variables that configure MPI."""
THREAD_LEVELS = {MPI.THREAD_SINGLE: "single", MPI.THREAD_FUNNELED: "funneled",
                 MPI.THREAD_SERIALIZED: "serialized", MPI.THREAD_MULTIPLE: "multiple"}  # fmt: skip


def _settle(world: MPI.Intracomm, bind: bool) -> list[place.RankLocation]:
    """Bind every rank to a processor of its own, if there are enough. Return the locations of all ranks, at rank 0.

    Two ranks that poll on one processor make each message take a time slice.
    """
    if bind:
        everywhere = world.allgather((platform.node(), frozenset(os.sched_getaffinity(0))))
        neighbours = [rank for rank, (host, _) in enumerate(everywhere) if host == platform.node()]
        allowed = [everywhere[rank][1] for rank in neighbours]
        cpu = place.own_cpu(neighbours.index(world.rank), allowed, place.cores())
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
    return world.gather(place.here()) or []


def follow(world: MPI.Intracomm) -> int:
    """Carry out the orders of rank 0. Called at all other ranks. Only rank 0 handles signals."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    largest, one_buffer, bind = world.bcast(None)
    _settle(world, bind)
    loop = MessageLoops(largest, one_buffer)
    MeasuringCrew(world, loop).serve()
    time_collectives(world, None, _ngmpi, lambda: False)
    return 0


def lead(world: MPI.Intracomm, options: MeasurementOptions) -> int:
    """Lead a measurement, and write its file. Called at rank 0. Return the exit code."""
    world.bcast((max(options.sizes), options.one_buffer, options.bind))
    places = _settle(world, options.bind)
    loop = MessageLoops(max(options.sizes), options.one_buffer)
    groups = pairs.groups(options.mode, [p.host for p in places], options.ranks, options.seed)
    crew = MeasuringCrew(world, loop)
    numbered = [(a, b, g) for g, group in enumerate(groups) for a, b in group.pairs]
    numbers = {(a, b): i for i, (a, b, _) in enumerate(numbered)}
    series = [
        PairSeries(
            group, numbers, dict(options.sizes), options.train, options.may_shorten, options.warm_up, options.receiver
        )
        for group in groups
    ]
    report = _Report(options, series, place.tables(places, numbered, options.mode), loop.clock)
    try:
        course = SeriesRunner(
            crew, StoppingLimits(options.repetitions, options.precision, options.time_s), report.after_visit
        )
        for one in series:
            course.run(one)
    except StopMeasuring:
        pass
    crew.dismiss()
    report.save()
    report.tables |= time_collectives(world, options.collectives, _ngmpi, lambda: report.stopped > 0)
    report.save()
    report.close()
    return 128 + report.stopped if report.stopped else 0


class _Report:
    """Output of a measurement while it goes on: its file, and lines on the terminal."""

    def __init__(
        self,
        options: MeasurementOptions,
        series: Sequence[PairSeries],
        tables: dict[str, np.ndarray],
        clock: MeasurementClock,
    ) -> None:
        self.options, self.series, self.tables, self.stopped = options, series, tables, 0
        self._saved = self._told = time.monotonic()
        self._attributes = {
            "tracelib": version("tracelib"),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": " ".join(sys.argv),
            "mpi": MPI.Get_library_version().strip("\0 \n"),
            "mpi_vendor": " ".join(map(str, MPI.get_vendor())),
            "settings": json.dumps(options.settings | {"thread_level": THREAD_LEVELS[MPI.Query_thread()]}),
            "environment": json.dumps({k: v for k, v in sorted(os.environ.items()) if OF_INTEREST.match(k)}),
            "clock": json.dumps(vars(clock)),
            "trains": options.train,
        }
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:  # as a shell has it for what runs in its background
                signal.signal(number, self._stop)

    def _stop(self, number: int, frame: object) -> None:
        self.stopped = number

    def after_visit(self, series: PairSeries, gone_s: float) -> None:
        """Save the file and print the progress, at intervals."""
        if self.stopped:
            raise StopMeasuring
        now = time.monotonic()
        if now - self._saved > SAVED_EVERY_S:
            self.save()
            self._saved = time.monotonic()
        if now - self._told > TOLD_EVERY_S and not self.options.quiet:
            self._told = now
            self._say(_state(series, gone_s, self.options.time_s))

    def save(self) -> None:
        """Write the file with all rows so far."""
        rows = [part for one in self.series for part in one.parts]
        sizes = {size: origin for one in self.series for size, origin in one.sizes.items()}
        plan = np.array(sorted(sizes.items()), net.PLAN) if sizes else np.zeros(0, net.PLAN)
        measured = {"rows": np.concatenate(rows) if rows else np.zeros(0, net.ROW), "plan": plan}
        if received := [part for one in self.series for part in one.receiver_parts]:
            measured["receiver"] = np.concatenate(received)
        store.write(self.options.output, self._attributes, self.tables | measured)

    def close(self) -> None:
        """Print the last line about the measurement."""
        if self.stopped or not self.options.quiet:
            rows = sum(len(part) for one in self.series for part in one.parts)
            sizes = len({size for one in self.series for size in one.sizes})
            pairs = len(self.tables["pairs"])
            what = f"{pairs} pair{'s' * (pairs != 1)}, {rows} rows of {sizes} sizes in {self.options.output}"
            if rows:
                known = np.concatenate([spread(one.times()) for one in self.series if one.parts])
                what += f", {_known(float(np.median(known)))}"
            self._say(f"stopped: {what}" if self.stopped else f"{what}; next: analyze {self.options.output}")

    def _say(self, line: str) -> None:
        click.echo(f"tracelib: {line}", err=True)


def _known(half: float) -> str:
    if not np.isfinite(half):
        return "too few rows of each size to say how well they are known"
    return f"half of the sizes are known within {half:.1%}"


def _state(series: PairSeries, gone_s: float, time_s: float) -> str:
    times = series.times()
    found = ", ".join(str(times.size[i]) for i, step in refine.changes(times) if step > refine.JUMP)
    of = f" of {time_s:.0f} s" if np.isfinite(time_s) else ""
    return f"{series.group.where}: {gone_s:.0f} s{of}, {len(times.size)} sizes, steps before {found or 'none'}"
