"""Predictions of a run on another machine, or with another computation, as methods of an opened run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from analyzer.arguments import Count, Factor, Share, checks_arguments
from analyzer.errors import TracelibError
from analyzer.interface.choices import (
    MachineArgument,
    MachineOptions,
    PathArgument,
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
    from analyzer.results.balance import BalanceResult
    from analyzer.results.limits import LimitsResult
    from analyzer.results.monte_carlo import MonteCarloResult
    from analyzer.results.replay import ReplayResult
    from analyzer.results.sensitivity import SensitivityResult
    from analyzer.results.validate import ValidateResult
    from analyzer.results.what_if import WhatIfResult


@checks_arguments
class Predictions(OpenedRun):
    """Predictions of a run. Each method computes what the `analyze` command in its docstring prints."""

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
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: an ideal machine with the `options`.
            repeat: Number of executions; the run begins again when it ends. None: one.
            by_place: Whether to compute how the time in calls changes at each place.
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
        """Find what limits the run: the network, the load balance, or computation (`analyze limits`).

        Args:
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: the machine of the run, as its messages
                show it.
            quick: Whether to skip the search for the worst network that the run tolerates.
            jobs: Number of replays at the same time. None: one for each CPU.
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
            region: Region or part whose computation changes; or several with the factor of each: {"solve": 0.5,
                "io": 2}. None:
                each part in turn takes no time.
            factor: New time / old time of the region.
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: the machine of the run.
            rank: Ranks on which the computation changes: 3, "0-3,7" or [0, 1]. None: all.
            by: Parts to try: "regions", or "calls" for the computation between two calls. None: as the run has them.
            top: Number of parts to try.
            jobs: Number of replays at the same time. None: one for each CPU.
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
        """Find the parameters of the machine on which the run's time depends (`analyze sensitivity`).

        Args:
            factor: One or several parameters to try at two values: "latency", "latency=1us..5us". If `sweep` is
                empty, too, the
                default is latency, bandwidth, buses and speed.
            sweep: One or several parameters to try at many values: "latency=1us..1ms:13". "all": the usual parameters.
            within: The two values without a range: this share below and above the machine's value.
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: the machine of the run.
            jobs: Number of replays at the same time. None: one for each CPU.
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

    def balance(
        self,
        machine: MachineArgument | None = None,
        *,
        region: str | None = None,
        now: PathArgument | None = None,
        items: Count | None = None,
        cpu_time: bool = False,
        messages: bool = False,
        **options: Unpack[MachineOptions],
    ) -> BalanceResult:
        """Propose which rank should compute how much, and predict the gain (`analyze balance`).

        Args:
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: the machine of the run.
            region: Region whose computation is shared. None: all computation is shared.
            now: Path of the plan that the run followed. None: the run had equal shares.
            items: Number of whole items that are shared. None: any fraction is possible.
            cpu_time: Whether speeds are by CPU time, without the time that other programs took from the CPUs.
            messages: Whether the size of a rank's messages grows with its share, too.
            options: Parameters of the machine (`MachineOptions`).

        Returns:
            The plan; `save` writes it for `tracelib.balance`.

        Raises:
            TracelibError: There is no such region, or the plan is not one of this run.
        """
        from analyzer.results.balance import compute

        self._check_choices("a replay", ranks=REPLAYS_RANKS, place=REPLAYS_CALLS)
        found = compute(
            self._with_region(region), self._host.team, choice=machine_choice(machine, options), region=region,
            now=None if now is None else os.fspath(now), items=items, cpu_time=cpu_time, messages=messages,
        )  # fmt: skip
        self._host.mention([found.incomplete] if found.incomplete else [])
        return found

    def monte_carlo(
        self,
        vary: str | tuple[str, ...] = (),
        *,
        samples: Count = 100,
        design: str = "random",
        until: Share | None = None,
        machine: MachineArgument | None = None,
        jobs: Count | None = None,
        **options: Unpack[MachineOptions],
    ) -> MonteCarloResult:
        """Predict how much the run's time varies if the machine is not known exactly (`analyze monte-carlo`).

        Args:
            vary: One or several parameters with their values: "latency=1us..100us", "speed=gaussian:1,0.1".
            samples: Number of machines that are drawn. With `until`: the largest number.
            design: How machines are drawn: "random", "latin" or "sobol".
            until: Relative error of the mean time at which to stop, such as 0.01. None: draw all machines.
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: an ideal machine with the `options`.
            jobs: Number of replays at the same time. None: one for each CPU.
            options: Parameters of the machine (`MachineOptions`).

        Raises:
            TracelibError: Nothing is random, there is no such parameter, or calls of the run were not recorded.
        """
        from analyzer.montecarlo.distribution import DESIGNS
        from analyzer.results.monte_carlo import Draw, check_random, check_until, compute, opened, variations

        one_of("design", design, list(DESIGNS))
        self._check_choices("a replay", ranks=REPLAYS_RANKS, place=REPLAYS_CALLS)
        draw = Draw(variations((vary,) if isinstance(vary, str) else vary), samples, design, jobs)
        chosen = configuration(machine, options).alone
        check_random(chosen, draw)
        if until is not None:
            check_until(draw)
        self.trace  # noqa: B018, raises where the run is closed
        with opened(self._host, [self._path], chosen) as runs:
            found = compute(self._host, runs, chosen, draw, until=until)
        assert found is not None  # this process leads its team
        return found

    def validate(
        self,
        against: PathArgument,
        *,
        untraced_s: Factor | None = None,
        machine: MachineArgument | None = None,
        **options: Unpack[MachineOptions],
    ) -> ValidateResult:
        """Replay this run on the machine of another run, and compare the prediction with that run (`analyze validate`).

        Args:
            against: Path of the other run: the same program with the same number of ranks.
            untraced_s: Duration of the other run without the tracer, seconds. None: not known.
            machine: A .toml, a Dimemas .cfg, "ideal" or a Machine. None: the machine of the run `against`.
            options: Parameters of the machine (`MachineOptions`).

        Raises:
            TracelibError: One of the runs cannot be replayed, or they have different numbers of ranks.
        """
        from analyzer.results.validate import compute

        self.trace  # noqa: B018, raises where the run is closed
        if self.is_part:
            raise TracelibError("a prediction is compared for whole runs", "open the run without choices")
        chosen = machine_choice(machine, options)
        return compute(self._host, [self._path], os.fspath(against), choice=chosen, untraced_s=untraced_s)
