"""Analyses of a run as it was, as methods of an opened run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Unpack

from analyzer.arguments import Count, Natural, Range, Seconds, checks_arguments
from analyzer.errors import TracelibError
from analyzer.interface.choices import (
    MachineArgument,
    MachineOptions,
    PathArgument,
    SizeArgument,
    TimeArgument,
    configuration,
    one_of,
    size_bytes,
    time_ns,
)
from analyzer.interface.opened_run import OpenedRun
from analyzer.interface.refusals import ALL_CALLS, REPLAYS_CALLS, REPLAYS_RANKS
from analyzer.opening import open_trace
from analyzer.trace import CodeSamples

if TYPE_CHECKING:  # an analysis is imported when it is asked for
    from analyzer.efficiency.analysis import Efficiencies
    from analyzer.results.check import CheckResult
    from analyzer.results.clusters import ClustersResult
    from analyzer.results.critical_path import CriticalPathResult
    from analyzer.results.efficiency import EfficiencyResult
    from analyzer.results.hot import GapsResult, HotResult
    from analyzer.results.loggp import LoggpResult
    from analyzer.results.moment import MomentResult
    from analyzer.results.profile import ProfileResult
    from analyzer.results.representative import RepresentativeResult
    from analyzer.results.structure import StructureResult
    from analyzer.results.summary import SummaryResult
    from analyzer.results.views import ViewsResult
    from analyzer.results.waits import WaitsResult

Around = Annotated[int, Range(0, 1000)]
"""Number of calls to show before and after a moment."""
Kinds = Annotated[int, Range(1, 1000)]
"""Number of clusters of k-means."""
Reach = Annotated[float, Range(0, is_open=True)]
"""Largest relative distance of two neighbouring bursts."""
Steps = Annotated[int, Range(64, 1 << 22)]
"""Number of steps into which a run is divided."""
Bins = Annotated[int, Range(1, 10**6)]
"""Number of bins of a profile over time."""


@checks_arguments
class Analyses(OpenedRun):
    """Analyses of a run as it was recorded. Each method computes what the `analyze` command in its docstring prints."""

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

    def waits(self, *, longest: Natural = 10) -> WaitsResult:
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
            by_region: Whether to compute the factors of each region, too.
            region: Name of a region. The factors of each of its visits are computed, too. "iteration" stands for the
                iterations
                if the program has no region of this name.
            additive: Whether to show factors whose losses add up, as in PyPOP.
            eager_limit: Message size from which on sends wait for their receive on the ideal network: "32K", or
                bytes. None: as
                the run shows.

        Raises:
            TracelibError: The run has no such region.
        """
        from analyzer.results.efficiency import compare_runs

        found = self._efficiencies(by_region=by_region, region=region, eager_limit=eager_limit)
        return compare_runs([found], additive=additive)

    def _efficiencies(self, *, by_region: bool, region: str | None, eager_limit: SizeArgument | None) -> Efficiencies:
        """Compute the efficiencies of the run, of its regions and of their visits."""
        from analyzer.results.efficiency import compute_run

        self._check_choices("an efficiency", place=f"{ALL_CALLS}; name a region")
        return compute_run(
            self._with_region(region), self._host.team, by_region=by_region, region=region,
            eager_limit=size_bytes("eager_limit", eager_limit),
        )  # fmt: skip

    def structure(self, *, method: str = "both", signal: str | tuple[str, ...] = ()) -> StructureResult:
        """Find the iterations of the run: how many, how long, what each does (`analyze structure`).

        Args:
            method: How iterations are found: "calls", "signals", "thesis" (the rules of Casas 2009 alone) or "both".
            signal: Name of a signal, or several names, to use instead of the usual signals.

        Raises:
            TracelibError: The run has no times, or there is no such signal.
        """
        from analyzer.results.structure import compute
        from analyzer.structure.levels.run_structure import IterationMethod

        one_of("method", method, [one.value for one in IterationMethod])
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
        self, *, top: Natural = 10, eager_limit: SizeArgument | None = None, poll_gap: TimeArgument = "10us"
    ) -> CriticalPathResult:
        """Find the path through the ranks that determines how long the run takes (`analyze critical-path`).

        Args:
            top: Number of stays on a thread to return, the longest first.
            eager_limit: Message size above which sends wait for their receive: "32K", or bytes. None: as the run shows.
            poll_gap: Longest time between two failed polls that counts as waiting: "10us", or ns.

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
        bins: Count = 1000,
        by: str | None = None,
        **options: Unpack[MachineOptions],
    ) -> ProfileResult:
        """Count the threads that compute at each instant (`analyze profile`).

        Args:
            machine: Machine on which the run is replayed: a file, "ideal" or a Machine. None: the run as it was.
            bins: Number of bins of time.
            by: "place": count the threads in calls by place, too. None: do not.
            options: Parameters of the machine (`MachineOptions`).

        Raises:
            TracelibError: A machine was named, and places or some ranks were chosen.
        """
        from analyzer.results.profile import compute

        one_of("by", by, ["place"])
        named = machine is not None or bool(options)
        if named and by:
            raise TracelibError("places cannot be shown with a machine", "run.replay(machine, by_place=True)")
        if named:
            self._check_choices("a replay", ranks=REPLAYS_RANKS, place=REPLAYS_CALLS)
        chosen = configuration(machine, options) if named else None
        return compute(self.trace, self._host.team, bins=bins, by=by, place=self._place, configuration=chosen)

    def clusters(
        self,
        *,
        method: str = "dbscan",
        counter: str | tuple[str, ...] = (),
        reach: Reach = 0.1,
        least: Count | None = None,
        kinds: Kinds = 4,
        shortest: TimeArgument = 0,
    ) -> ClustersResult:
        """Find groups of bursts that are alike in duration and counters (`analyze clusters`).

        Args:
            method: "dbscan" or "kmeans".
            counter: Name of a counter, or several names, by which bursts are compared in addition to their duration.
            reach: dbscan: largest relative difference of two neighbouring bursts.
            least: dbscan: number of neighbours from which on a burst is dense. None: 0.5 % of the sample.
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

    def what(self, at: Seconds, *, rank: Natural | None = None, around: Around = 3) -> MomentResult:
        """Find what one rank or all ranks do at a moment (`analyze what`).

        Args:
            at: The moment, seconds from the start of the run or of the part that was opened.
            rank: The rank. None: all ranks, in a line each.
            around: Number of calls before and after the moment.

        Raises:
            TracelibError: The run has no times, no such rank, or ends before the moment.
        """
        from analyzer.results.moment import compute

        self._check_choices("a moment", ranks="it is of one rank or of all", place="it has few calls; see around")
        return compute(self.trace, at_ns=round(at * 1e9), rank=rank, around=around)

    def loggp(self) -> LoggpResult:
        """Estimate latency and bandwidth of the network from the messages of the run (`analyze loggp`).

        Raises:
            TracelibError: The run does not know its places, and one was chosen.
        """
        from analyzer.results.loggp import compute

        return compute(self.trace, self._host.team, place=self._place)

    def representative(
        self, *, metric: str | None = None, by: str | None = None, sweep: bool = False, steps: Steps = 1 << 13
    ) -> RepresentativeResult:
        """Find the shortest part of the run that stands for all of it (`analyze representative`).

        Args:
            metric: Metric of counters, such as "cycles/instructions". None: this one, or else the first counter.
            by: Second metric, whose errors are computed, too, and by which `sweep` clusters. None: none.
            sweep: Whether to compute errors of samples by k-means, for intervals of up to twice the period.
            steps: Number of steps into which the run is divided.

        Raises:
            TracelibError: The run has no counters, or does not know when it computes.
        """
        from analyzer.results.representative import compute, series_in

        self._check_choices("a representative part", ranks="counters of all ranks are added up",
                            place="counters are of all that ranks compute")  # fmt: skip
        return compute(*series_in(self.trace, self._host.team, steps), metric=metric, by=by, sweep=sweep)

    def views(
        self,
        view: PathArgument,
        *,
        show: str | None = None,
        level: str | None = None,
        by: str | None = None,
        statistic: str | None = None,
        bins: Bins | None = None,
        begin: Seconds = 0,
        end: Seconds | None = None,
    ) -> ViewsResult:
        """Compute a number for each thread, rank or node over time, as Paraver's windows show it (`analyze views`).

        Args:
            view: Name of a view, such as "parallelism", or path of a .toml file. `analyze views --list` lists the
                names.
            show: "rows" (sums), "profile" (over time) or "histogram". None: as the view says.
            level: What a row is: "thread", "task", "application", "cpu", "node" or "system". None: as the view says.
            by: Second view, by whose values a histogram is made. None: none.
            statistic: Statistic of the histogram: "time", "average value", "sends", ...
            bins: Number of bins of a profile. None: as the view says.
            begin: Begin of the stretch of time, seconds.
            end: End of the stretch of time, seconds. None: the end of the run.

        Raises:
            TracelibError: There is no such view, or the run lacks the data that the view needs.
        """
        from analyzer.results.views import LEVELS, SHOWS, chosen_view, compute
        from analyzer.views.view_file import find_view

        one_of("show", show, SHOWS)
        one_of("level", level, LEVELS)
        self._check_choices("a view", place="the filter of a view has a place")
        name = os.fspath(view)
        chosen = chosen_view(find_view(name), name, show, level, by, statistic)
        begin_ns, end_ns = self._times(begin, end)
        return compute(self.trace, chosen, begin_ns=begin_ns, end_ns=None if end is None else end_ns, bins=bins)
