"""`analyzer.open`, and the run that it gives."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from analyzer.errors import TracelibError
from analyzer.frames.blocks import Block
from analyzer.frames.table import Table
from analyzer.frames.tables import Tables
from analyzer.interface.choices import (
    IterationArgument,
    MachineArgument,
    MachineOptions,
    RanksArgument,
    SizeArgument,
    TimeArgument,
    configuration,
    iteration_choice,
    machine_choice,
    one_of,
    place_choice,
    ranks_choice,
    size_bytes,
    time_ns,
)
from analyzer.interface.host import PythonHost
from analyzer.opening import open_trace
from analyzer.results.open_part import ITERATION_REGION, chosen_loop, chosen_windows, iterations_in, open_part
from analyzer.trace import Chosen, CodeSamples, Regions, Trace

if TYPE_CHECKING:  # an analysis is imported when it is asked for
    from analyzer.metrics.profile import Profile
    from analyzer.results.check import CheckResult
    from analyzer.results.clusters import ClustersResult
    from analyzer.results.critical_path import CriticalPathResult
    from analyzer.results.cut import CutResult
    from analyzer.results.efficiency import EfficiencyResult
    from analyzer.results.hot import GapsResult, HotResult
    from analyzer.results.limits import LimitsResult
    from analyzer.results.moment import MomentResult
    from analyzer.results.profile import ProfileResult
    from analyzer.results.replay import ReplayResult
    from analyzer.results.sensitivity import SensitivityResult
    from analyzer.results.structure import StructureResult
    from analyzer.results.summary import SummaryResult
    from analyzer.results.waits import WaitsResult
    from analyzer.results.what_if import WhatIfResult

PathArgument = str | os.PathLike[str]

_REPLAYS_RANKS = "a replay needs all ranks, because they wait for each other"
_REPLAYS_CALLS = "a replay needs all calls, because ranks wait for each other in them"
_ALL_CALLS = "it is of all that ranks compute, between whatever calls"


def open_run(
    path: PathArgument,
    *,
    ranks: RanksArgument | None = None,
    cluster: int | None = None,
    loop: int | None = None,
    iteration: IterationArgument | None = None,
    place: str | None = None,
    repair_clocks: TimeArgument | None = None,
) -> Run:
    """Open a run: run.h5, its folder run.ranks, a Paraver trace, a Dimemas trace or an OTF2 archive.

    This is for one process. Under mpirun each process would analyze all of the run; `mpirun analyze` shares the work.

    Args:
        path: Path of the run.
        ranks: Read only these ranks: 3, "0-63,1000" or [0, 1, 2]. None: all.
        cluster: Count only the bursts of this cluster (see `Run.clusters`) as computing. None: all bursts.
        loop: Only this loop, by its number in `Run.structure`; 1 is the main one. None: the whole run.
        iteration: Only these iterations of the main loop: 113 or "10-20"; "2:14" is iteration 14 of loop 2.
        place: Only calls through places that this regular expression finds: functions, file:line, modules. Methods for
            which a part of the calls has no meaning say so.
        repair_clocks: Move times so that each message takes at least this long: "2us", or ns. None: leave them.

    Returns:
        The run, a context manager: `with analyzer.open("run.h5") as run:`.

    Raises:
        TracelibError: The file is missing, damaged or no trace, or a choice does not fit the run.
    """
    return Run(
        path, ranks=ranks, cluster=cluster, loop=loop, iteration=iteration, place=place, repair_clocks=repair_clocks
    )


class Run:
    """An opened run, or the part of it that was chosen.

    Each method computes what the `analyze` command of its name prints, and its parameters are named as the options.
    """

    def __init__(
        self,
        path: PathArgument,
        *,
        ranks: RanksArgument | None = None,
        cluster: int | None = None,
        loop: int | None = None,
        iteration: IterationArgument | None = None,
        place: str | None = None,
        repair_clocks: TimeArgument | None = None,
    ) -> None:
        """Open a run; the parameters are the same as in `analyzer.open`."""
        self._host = PythonHost(wanted=iteration_choice(loop, iteration))
        self._place = place_choice(place)
        self._opening: dict[str, Any] = {
            "choice": ranks_choice(ranks, cluster),
            "repair_ns": None if repair_clocks is None else time_ns("repair_clocks", repair_clocks),
        }
        self._path = _text(path)
        self._opened: Trace | None = open_part(self._host, self._path, **self._opening)
        self._host.mention_problems(self._opened)

    # What the run is

    @property
    def path(self) -> str:
        """Path of the run, as it was given."""
        return self._path

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.trace.size

    @property
    def duration_s(self) -> float:
        """How long the run took, seconds; of a Dimemas trace 0."""
        return self.trace.duration_ns / 1e9 if self.trace.has_call_times else 0.0

    @property
    def remarks(self) -> tuple[str, ...]:
        """List what limits the trust in the numbers, a line each; `analyze` writes it to standard error."""
        return tuple(self._host.remarks)

    @property
    def trace(self) -> Trace:
        """The trace below, which analyses of your own read (docs/extending.md).

        Raises:
            TracelibError: The run is closed.
        """
        if self._opened is None:
            raise TracelibError(f"{self._path} is closed", "open it again with analyzer.open")
        return self._opened

    def close(self) -> None:
        """Close the run, and remove what was cut out of it. Closing it again does nothing."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()
        self._host.close()

    def __enter__(self) -> Run:
        self.trace  # noqa: B018, raises where the run is closed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._opened is None:
            return f"{self._path} (closed)"
        ranks = f"{self.ranks} rank{'s' if self.ranks != 1 else ''}"
        return "\n".join([f"{self._path}: {ranks}, {self.duration_s:.6g} s", *self.remarks])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    # Its records, as tables

    @cached_property
    def tables(self) -> Tables:
        """All tables of the run. Nothing is read before a table is asked for its rows."""
        wanted = self._host.wanted
        found = iterations_in(self.trace, self._host) if wanted and wanted.is_part else None
        tables = Tables(self.trace, iterations=found)
        for table in tables:
            setattr(tables, table.name, replace(table, blocks=self._while_open(table.blocks)))
        return tables

    @property
    def calls(self) -> Table:
        """A row for each MPI call, by rank and time: `run.calls.to_pandas()`."""
        return self._table("calls")

    @property
    def messages(self) -> Table:
        """A row for each message, by the rank that sent it."""
        return self._table("messages")

    @property
    def regions(self) -> Table:
        """A row for each time that a thread was in a region of the program."""
        return self._table("regions")

    @property
    def iterations(self) -> Table:
        """A row for each iteration of the main loop on each rank."""
        return self._table("iterations")

    @property
    def wait_states(self) -> Table:
        """A row for each wait state, with the rank that caused it."""
        return self._table("waits")

    @property
    def places(self) -> Table:
        """A row for each rank, place in the program and procedure, with the cost of the calls."""
        return self._table("places")

    # What analyses find

    def summary(self) -> SummaryResult:
        """Take a first look: where time goes, efficiency, messages, calls, what is remarkable (`analyze look`).

        Raises:
            TracelibError: The run does not know its places, and one was chosen.
        """
        from analyzer.results.summary import compute

        return compute(self.trace, self._host.team, place=self._place)

    look = info = summary

    def check(self) -> CheckResult:
        """Check that the run is sound and complete (`analyze check`)."""
        from analyzer.results.check import compute

        self.trace  # noqa: B018, raises where the run is closed
        trace = open_trace(self._path, **self._opening, impossible=True)
        self._host.call_on_close(trace.close)
        return compute(trace, self._host.team, place=self._place)

    def waits(self, *, longest: int = 10) -> WaitsResult:
        """Find where ranks wait for others, and which rank caused each wait (`analyze waits`).

        Args:
            longest: Number of single waits to return, the longest first.

        Raises:
            TracelibError: The run does not know its places, and one was chosen.
        """
        from analyzer.results.waits import compute

        return compute(self.trace, self._host.team, longest=longest, place=self._place, calls=self._profile)

    def efficiency(
        self,
        *,
        by_region: bool = False,
        region: str | None = None,
        additive: bool = False,
        eager_limit: SizeArgument | None = None,
    ) -> EfficiencyResult:
        """Compute the POP factors: parallel efficiency, load balance, communication (`analyze efficiency`).

        `analyzer.efficiencies` compares several runs.

        Args:
            by_region: Whether each region of the program is looked at, too.
            region: Region each of whose visits is looked at; "iteration": iterations, where the program has no such
                region.
            additive: Whether to show factors whose losses add up, as in PyPOP.
            eager_limit: Size from which on sends wait for their receive on the ideal network: "32K", or bytes. None: as
                the run shows.

        Raises:
            TracelibError: The run has no such region.
        """
        from analyzer.results.efficiency import compute

        self._check_choices("an efficiency", place=f"{_ALL_CALLS}; name a region")
        return compute(
            self._with_region(region), self._host.team, by_region=by_region, region=region, additive=additive,
            eager_limit=size_bytes("eager_limit", eager_limit),
        )  # fmt: skip

    def structure(self, *, method: str = "both", signal: str | tuple[str, ...] = ()) -> StructureResult:
        """Find the iterations of the run: how many, how long, what each does (`analyze structure`).

        Args:
            method: What is looked at: "calls", "signals", "thesis" (the rules of Casas 2009 alone) or "both".
            signal: Name of a signal, or several, to look at instead of the usual ones.

        Raises:
            TracelibError: The run has no times, or there is no such signal.
        """
        from analyzer.results.structure import compute
        from analyzer.structure.levels.run_structure import Method

        one_of("method", method, [one.value for one in Method])
        self._check_choices("structure", place="iterations are found in the sequence of all calls")
        signals = (signal,) if isinstance(signal, str) else tuple(signal)
        return compute(self.trace, self._host.team, method=method, signals=signals)

    def hot(self, *, lines: bool = False) -> HotResult | GapsResult:
        """Find the functions in which the run computes (`analyze hot`).

        Args:
            lines: Whether lines are shown, too.

        Returns:
            Computing by function, from samples. Without samples: computing by the calls before and after it.

        Raises:
            TracelibError: The run has no samples, and a place was chosen.
        """
        from analyzer.report.hot import AGAIN
        from analyzer.results.hot import compute, compute_gaps

        with self._whole() as (trace, windows):
            if trace.extra(CodeSamples).known:
                return compute(trace, self._host.team, lines=lines, place=self._place, windows=windows)
        if self._place:
            what, _, again = AGAIN.partition(", ")
            raise TracelibError(f"{self._path} has {what}", again)
        return compute_gaps(self.trace, self._host.team)

    def critical_path(
        self, *, top: int = 10, eager_limit: SizeArgument | None = None, poll_gap: TimeArgument = "10us"
    ) -> CriticalPathResult:
        """Follow the path through the ranks that determines how long the run takes (`analyze critical-path`).

        Args:
            top: Number of the path's longest stays on a thread to return.
            eager_limit: Size above which sends wait for their receive: "32K", or bytes. None: as the run shows.
            poll_gap: Time between failed polls is waiting, up to this for each poll in a row.

        Raises:
            TracelibError: The run does not know its places, and one was chosen.
        """
        from analyzer.results.critical_path import compute

        found = compute(
            self.trace, self._host.team, top=top, eager_limit=size_bytes("eager_limit", eager_limit),
            poll_gap_ns=time_ns("poll_gap", poll_gap), place=self._place,
        )  # fmt: skip
        assert found is not None  # this process leads its team
        return found

    def profile(
        self,
        machine: MachineArgument | None = None,
        *,
        bins: int = 1000,
        by: str | None = None,
        **options: Unpack[MachineOptions],
    ) -> ProfileResult:
        """Count the threads that compute at each instant (`analyze profile`).

        Args:
            machine: Machine that the run is replayed on: a file, "ideal" or a Machine. None: the run as it was.
            bins: Number of intervals.
            by: "place": threads in calls are counted by place, too.
            options: Parameters of the machine (`MachineOptions`).

        Raises:
            TracelibError: Places or some ranks were chosen, and a machine named.
        """
        from analyzer.results.profile import compute

        one_of("by", by, ["place"])
        if bins < 1:
            raise TracelibError(f"bins={bins} is no number of intervals", "give 1 or more")
        named = machine is not None or bool(options)
        if named and by:
            raise TracelibError("places cannot be shown with a machine", "run.replay(machine, by_place=True)")
        if named:
            self._check_choices("a replay", ranks=_REPLAYS_RANKS, place=_REPLAYS_CALLS)
        chosen = configuration(machine, options) if named else None
        return compute(self.trace, self._host.team, bins=bins, by=by, place=self._place, configuration=chosen)

    def clusters(
        self,
        *,
        method: str = "dbscan",
        counter: str | tuple[str, ...] = (),
        reach: float = 0.1,
        least: int | None = None,
        kinds: int = 4,
        shortest: TimeArgument = 0,
    ) -> ClustersResult:
        """Find the kinds of CPU bursts that are alike in duration and counters (`analyze clusters`).

        Args:
            method: "dbscan" or "kmeans".
            counter: Name of a counter, or several, to cluster by, too.
            reach: dbscan: bursts are neighbours if they differ by this share at most.
            least: dbscan: number of neighbours of a dense burst. None: 0.5 % of the sample.
            kinds: kmeans: number of clusters.
            shortest: Shorter bursts are left out: "2us", or ns.

        Raises:
            TracelibError: The run does not know when it computes, or has no such counter.
        """
        from analyzer.results.clusters import compute

        one_of("method", method, ["dbscan", "kmeans"])
        self._check_choices(
            "clusters", ranks="the bursts of all ranks are clustered together", place="bursts lie between all calls"
        )
        counters = (counter,) if isinstance(counter, str) else tuple(counter)
        with self._whole() as (trace, windows):
            return compute(
                trace, self._host.team, method=method, counters=counters, reach=reach, least=least, kinds=kinds,
                shortest_ns=time_ns("shortest", shortest), stretches=windows,
            )  # fmt: skip

    def what(self, at: float, *, rank: int | None = None, around: int = 3) -> MomentResult:
        """Find what one rank or all ranks do at a moment (`analyze what`).

        Args:
            at: The moment, seconds from the start of the run or of the part that was opened.
            rank: The rank. None: all ranks, in a line each.
            around: Number of calls before and after the moment.

        Raises:
            TracelibError: The run has no times, no such rank, or ends before the moment.
        """
        from analyzer.results.moment import compute

        if at < 0 or (rank is not None and rank < 0):
            raise TracelibError(f"what(at={at!r}, rank={rank!r}): neither may be negative")
        self._check_choices("a moment", ranks="it is of one rank or of all", place="it has few calls; see around")
        return compute(self.trace, at_ns=round(at * 1e9), rank=rank, around=around)

    # What would be

    def replay(
        self,
        machine: MachineArgument | None = None,
        *,
        repeat: int | None = None,
        by_place: bool = False,
        **options: Unpack[MachineOptions],
    ) -> ReplayResult:
        """Predict how long the run would take on a machine, and where the time would go (`analyze replay`).

        Args:
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: an ideal one, as `options` change it.
            repeat: The run begins again when it ends, until it has ended this number of times.
            by_place: Whether to say how the time in calls changes, by the places that calls come from.
            options: Parameters of the machine (`MachineOptions`): `run.replay(latency="5us", bandwidth="1GB/s")`.

        Raises:
            TracelibError: The replay never ends, or the machine's file is wrong.
        """
        from analyzer.results.replay import compute

        self._check_choices("a replay", ranks=_REPLAYS_RANKS, place=_REPLAYS_CALLS)
        chosen = configuration(machine, options)
        return compute([self.trace], self._host.team, configuration=chosen, repeat=repeat, by_place=by_place)

    def limits(
        self,
        machine: MachineArgument | None = None,
        *,
        quick: bool = False,
        jobs: int | None = None,
        **options: Unpack[MachineOptions],
    ) -> LimitsResult:
        """Say what limits the run: the network, the load, or computation (`analyze limits`).

        Args:
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: the machine of the run, as its messages show
                it.
            quick: Whether not to search for the worst network that the run tolerates.
            jobs: Number of replays at once. None: one for each CPU.
            options: Parameters of the machine (`MachineOptions`).

        Raises:
            TracelibError: A replay never ends, or the machine's file is wrong.
        """
        from analyzer.results.limits import compute

        self._check_choices("a replay", ranks=_REPLAYS_RANKS, place=_REPLAYS_CALLS)
        chosen = machine_choice(machine, options)
        return compute(self.trace, self._host.team, choice=chosen, quick=quick, jobs=jobs, calls=self._profile)

    def what_if(
        self,
        region: str | Mapping[str, float] | None = None,
        factor: float = 0.5,
        *,
        machine: MachineArgument | None = None,
        rank: RanksArgument | None = None,
        by: str | None = None,
        top: int = 15,
        jobs: int | None = None,
        **options: Unpack[MachineOptions],
    ) -> WhatIfResult:
        """Predict what the run gains if computation in a region were faster, or slower (`analyze what-if`).

        Args:
            region: Region, or part, that changes; or several with the factor of each: {"solve": 0.5, "io": 2}. None:
                each part in turn takes no time.
            factor: New time / old time of the region.
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: the machine of the run.
            rank: Ranks on which it changes: 3, "0-3,7" or [0, 1]. None: all.
            by: Parts to try: "regions", or "calls", the computation between two calls.
            top: Number of parts to try.
            jobs: Number of replays at once. None: one for each CPU.
            options: Parameters of the machine (`MachineOptions`).

        Raises:
            TracelibError: There is no such region, part or rank.
        """
        from analyzer.results.what_if import CALLS, REGIONS, compute

        one_of("by", by, [REGIONS, CALLS])
        if self._place and by == REGIONS:
            raise TracelibError("a region is not divided by its calls", "leave out by, or open the run without a place")
        self._check_choices("a replay", ranks=_REPLAYS_RANKS)
        factors = {} if region is None else {region: factor} if isinstance(region, str) else dict(region)
        if wrong := [name for name, value in factors.items() if not 0 <= value < float("inf")]:
            raise TracelibError(f"the factor of {wrong[0]} is {factors[wrong[0]]}", "give a number from 0 on")
        chosen = ranks_choice(rank, None)
        ranks = frozenset(chosen.of(self.ranks, self._path)) if chosen else None
        return compute(
            self._with_region(ITERATION_REGION if ITERATION_REGION in factors else None), self._host.team,
            factors=factors, choice=machine_choice(machine, options), ranks=ranks, by=by, top=top,
            place=self._place, jobs=jobs,
        )  # fmt: skip

    def sensitivity(
        self,
        factor: str | tuple[str, ...] = (),
        *,
        sweep: str | tuple[str, ...] = (),
        within: float = 0.1,
        machine: MachineArgument | None = None,
        jobs: int | None = None,
        **options: Unpack[MachineOptions],
    ) -> SensitivityResult:
        """Find the parameters of the machine that the run's time depends on (`analyze sensitivity`).

        Args:
            factor: Parameter at two levels, or several: "latency", "latency=1us..5us". Without it and `sweep` latency,
                bandwidth, buses and speed.
            sweep: Parameter at many values, or several: "latency=1us..1ms:13"; "all": the usual ones.
            within: Without a range, the levels are this share below and above the machine's value.
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: the machine of the run.
            jobs: Number of replays at once. None: one for each CPU.
            options: Parameters of the machine (`MachineOptions`).

        Raises:
            TracelibError: There is no such parameter, or the messages of the run do not show its network.
        """
        from analyzer.results.sensitivity import compute

        if not 0 < within < 1:
            raise TracelibError(f"within={within} is no share", "give a number between 0 and 1")
        self._check_choices("a replay", ranks=_REPLAYS_RANKS, place=_REPLAYS_CALLS)
        factors, sweeps = ((one,) if isinstance(one, str) else tuple(one) for one in (factor, sweep))
        chosen = machine_choice(machine, options).of(self.trace, self._host.team)
        return compute(
            self.trace, self._host.team, machine=chosen, factors=factors, within=within, sweeps=sweeps, jobs=jobs
        )

    # What is written

    def cut(
        self,
        output: PathArgument | None = None,
        *,
        iterations: int | None = None,
        first: int | None = None,
        iteration: IterationArgument | None = None,
        loop: int | None = None,
        begin: float | None = None,
        end: float | None = None,
        force: bool = False,
    ) -> CutResult:
        """Write some iterations as a small run of their own, which `analyzer.open` reads (`analyze cut`).

        Without `first`, `iteration` and times, the iterations that are most like the whole loop are chosen.

        Args:
            output: Name of the small run: .h5, .prv or .dim. None: NAME-cut.h5 beside the run.
            iterations: Number of iterations. None: 2, or more until their efficiencies are like the whole loop's.
            first: The first of them, from 1.
            iteration: Iterations by their numbers: 113 or "10-20"; "2:14" is iteration 14 of loop 2.
            loop: Number of the loop in `structure`; 1 is the main one.
            begin: Cut from here on, seconds, and not by iterations.
            end: Cut until here, seconds.
            force: Whether an existing file is replaced that is no trace.

        Raises:
            TracelibError: There are no iterations, or too few, or the file cannot be written.
        """
        from analyzer.results.cut import choose_iterations, path_of_cut, write_part
        from analyzer.structure.cut.chosen_iterations import fixed_window, window

        self._check_choices(
            "a cut",
            ranks="it has all ranks, because they wait for each other",
            place="it has all calls of its time, because ranks wait for each other in them",
        )
        if not self.trace.has_call_times:
            raise TracelibError(f"{self._path}: a Dimemas trace has no times", "cut the run that it was made of")
        path = path_of_cut(self.trace, None if output is None else os.fspath(output))
        if begin is not None or end is not None:
            if any(one is not None for one in (iterations, first, iteration, loop)):
                raise TracelibError("begin and end name times", "leave out iterations, first, iteration and loop")
            return write_part(self.trace, fixed_window(self.trace, *self._times(begin, end)), path, self._host,
                              content="a stretch", force=force)  # fmt: skip
        wanted = iteration_choice(loop, iteration)
        if wanted and wanted.first and (first or iterations):
            raise TracelibError("iteration names all iterations", "leave out first and iterations")
        host = replace(self._host, wanted=wanted)
        found = chosen_loop(self.trace, host, wanted) if wanted else iterations_in(self.trace, host)
        if wanted and wanted.first:
            start, count = wanted.numbers(found.count)
        else:
            start, count = choose_iterations(self.trace, host, found, iterations, first)
        which = f"iteration {start + 1}" if count == 1 else f"iterations {start + 1} to {start + count}"
        content = f"{which} of {found.count}" + (f" of loop {wanted.loop}" if wanted and wanted.loop else "")
        windows = window(found, start, count)
        return write_part(self.trace, windows, path, host, content=content, first=start + 1, force=force)

    def report(self, output: PathArgument | None = None, *, force: bool = False) -> Path:
        """Write one page of HTML that explains the run (`analyze report`).

        Args:
            output: Name of the page. None: NAME.html beside the run.
            force: Whether an existing file is replaced that is no such page.

        Returns:
            Path of the page.

        Raises:
            TracelibError: The run has no times, or the page cannot be written.
        """
        from analyzer.atomic_file import whole_file
        from analyzer.report.page.gather import gather
        from analyzer.report.page.html import page_html
        from analyzer.results.output_files import check_writable, output_base

        self._check_choices("a page", ranks="a path and replays need all ranks", place="it is of all calls")
        base = output_base(Path(self._path), None if output is None else os.fspath(output), (".html",))
        path = base.with_name(f"{base.name}.html")
        check_writable(path, self.trace, force)
        gathered = gather(self._path, self.trace, self._host.team, 1, name=Path(self._path).name)
        with whole_file(path) as written:
            written.write(page_html([gathered]).encode())
        return path

    def to_paraver(
        self,
        output: PathArgument | None = None,
        *,
        waits: bool = False,
        callers: int | None = None,
        iterations: bool = False,
        force: bool = False,
    ) -> list[Path]:
        """Write the run as a Paraver trace (`analyze prv`).

        Args:
            output: Name of the trace, with or without .prv, or a folder. None: beside the run.
            waits: Whether wait states are added as events, with a .waits.cfg that shows them.
            callers: Number of levels of callers to add as events. None: no callers.
            iterations: Whether iterations are added as events.
            force: Whether existing files are replaced that are no traces.

        Returns:
            Paths of NAME.prv, NAME.pcf, NAME.row, and of NAME.waits.cfg.

        Raises:
            TracelibError: A file cannot be written, or the run does not know callers or iterations.
        """
        from analyzer.results.output_files import output_base
        from analyzer.results.write_traces import with_callers, write_paraver, write_with_waits
        from analyzer.structure.events import WithIterations

        self._check_choices("a Paraver trace", place="it has all calls; with callers, Paraver can choose among them")
        shown = with_callers(self.trace, callers) if callers else self.trace
        shown = WithIterations(shown, iterations_in(self.trace, self._host)) if iterations else shown
        base = output_base(Path(self._path), None if output is None else os.fspath(output), (".prv",))
        return (write_with_waits if waits else write_paraver)(shown, base, self._host, force)

    def to_dimemas(self, output: PathArgument | None = None, *, force: bool = False) -> Path:
        """Write the run as a Dimemas trace (`analyze dim`).

        Args:
            output: Name of the trace, with or without .dim, or a folder. None: beside the run.
            force: Whether an existing file is replaced that is no trace.

        Returns:
            Path of NAME.dim.

        Raises:
            TracelibError: The file cannot be written.
        """
        from analyzer.results.output_files import output_base
        from analyzer.results.write_traces import dimemas_notes, write_dimemas

        self._check_choices("a Dimemas trace", ranks=_REPLAYS_RANKS, place=_REPLAYS_CALLS)
        base = output_base(Path(self._path), None if output is None else os.fspath(output), (".dim",))
        written = write_dimemas(self.trace, base, self._host, force)
        self._host.mention(dimemas_notes(self.trace, written))
        return written.path

    # How

    @cached_property
    def _profile(self) -> Profile:
        """Sums of calls, which several analyses need."""
        from analyzer.metrics.profile import profile

        return profile(self.trace, self._host.team)

    def _table(self, name: str) -> Table:
        self.trace  # noqa: B018, raises where the run is closed
        table: Table = getattr(self.tables, name)
        return table

    def _while_open(self, blocks: Callable[[], Iterator[Block]]) -> Callable[[], Iterator[Block]]:
        """Let a table be read only while the run is open."""

        def read() -> Iterator[Block]:
            self.trace  # noqa: B018, raises where the run is closed
            return blocks()

        return read

    def _check_choices(self, what: str, *, ranks: str = "", place: str = "") -> None:
        """Raise TracelibError if the run was opened with a choice that has no meaning here; a text says why."""
        chosen = self.trace.extra(Chosen)
        if ranks and (chosen.ranks is not None or chosen.cluster):
            raise TracelibError(f"{what} cannot be of some ranks or one cluster: {ranks}", "open the run without them")
        if place and self._place:
            raise TracelibError(f"{what} cannot be of some places: {place}", "open the run without a place")

    def _with_region(self, region: str | None) -> Trace:
        """Return the run, in which iterations are visits of a region if that is asked for."""
        if region != ITERATION_REGION or ITERATION_REGION in self.trace.extra(Regions).names:
            return self.trace
        from analyzer.structure.regions import WithRegion

        return WithRegion(self.trace, iterations_in(self.trace, self._host))

    @contextmanager
    def _whole(self) -> Iterator[tuple[Trace, NDArray[np.int64] | None]]:
        """Give the whole run, and the windows of the iterations that were chosen, for what a cut run does not have."""
        wanted = self._host.wanted
        if not wanted or not wanted.is_part:
            yield self.trace, None
            return
        self.trace  # noqa: B018, raises where the run is closed
        trace = open_trace(self._path, **self._opening)
        self._host.call_on_close(trace.close)
        yield trace, chosen_windows(self._host, trace)

    def _times(self, begin: float | None, end: float | None) -> tuple[int, int]:
        first = round((begin or 0) * 1e9)
        last = min(self.trace.duration_ns if end is None else round(end * 1e9), self.trace.duration_ns)
        if not 0 <= first < last:
            lasts = f"it lasts {self.trace.duration_ns / 1e9:.6g} s"
            raise TracelibError(f"{self._path}: nothing lies between begin and end", lasts)
        return first, last


def _text(path: PathArgument) -> str:
    try:
        text = os.fspath(path)
    except TypeError as error:
        raise TracelibError(f"{path!r} is no path", 'such as "run.h5"') from error
    if not isinstance(text, str):
        raise TracelibError(f"{path!r} is no path", 'such as "run.h5"')
    return text
