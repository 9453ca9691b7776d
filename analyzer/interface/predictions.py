"""Predictions of a run on another machine, or with another computation, as methods of an opened run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from analyzer.arguments import Count, Factor, Share, checks_arguments
from analyzer.errors import TracelibError
from analyzer.interface.choices import (
    MachineArgument,
    MachineOptions,
    RanksArgument,
    configuration,
    machine_choice,
    one_of,
    ranks_choice,
)
from analyzer.interface.opened_run import OpenedRun
from analyzer.interface.refusals import REPLAYS_CALLS, REPLAYS_RANKS
from analyzer.results.open_part import ITERATION_REGION

if TYPE_CHECKING:  # an analysis is imported when it is asked for
    from analyzer.results.limits import LimitsResult
    from analyzer.results.replay import ReplayResult
    from analyzer.results.sensitivity import SensitivityResult
    from analyzer.results.what_if import WhatIfResult


@checks_arguments
class Predictions(OpenedRun):
    """Predictions of a run: each method computes what the `analyze` command of its name prints."""

    def replay(
        self,
        machine: MachineArgument | None = None,
        *,
        repeat: Count | None = None,
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

        self._check_choices("a replay", ranks=REPLAYS_RANKS, place=REPLAYS_CALLS)
        chosen = configuration(machine, options)
        return compute([self.trace], self._host.team, configuration=chosen, repeat=repeat, by_place=by_place)

    def limits(
        self,
        machine: MachineArgument | None = None,
        *,
        quick: bool = False,
        jobs: Count | None = None,
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

        self._check_choices("a replay", ranks=REPLAYS_RANKS, place=REPLAYS_CALLS)
        chosen = machine_choice(machine, options)
        return compute(self.trace, self._host.team, choice=chosen, quick=quick, jobs=jobs, calls=self._profile)

    def what_if(
        self,
        region: str | Mapping[str, Factor] | None = None,
        factor: Factor = 0.5,
        *,
        machine: MachineArgument | None = None,
        rank: RanksArgument | None = None,
        by: str | None = None,
        top: Count = 15,
        jobs: Count | None = None,
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
        self._check_choices("a replay", ranks=REPLAYS_RANKS)
        factors = {} if region is None else {region: factor} if isinstance(region, str) else dict(region)
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
        within: Share = 0.1,
        machine: MachineArgument | None = None,
        jobs: Count | None = None,
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

        self._check_choices("a replay", ranks=REPLAYS_RANKS, place=REPLAYS_CALLS)
        factors, sweeps = ((one,) if isinstance(one, str) else tuple(one) for one in (factor, sweep))
        chosen = machine_choice(machine, options).of(self.trace, self._host.team)
        return compute(
            self.trace, self._host.team, machine=chosen, factors=factors, within=within, sweeps=sweeps, jobs=jobs
        )
