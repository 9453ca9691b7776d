"""Options of a measurement, from the command line or from the options file of the thesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tracelib.collectives.design import CollectiveDesign
from tracelib.errors import TracelibError
from tracelib.ngmpi import config, plan
from tracelib.schema.net import PairMode, SizeOrigin

LARGEST, SMALL_LARGEST = 4 << 20, 200 << 10
TIME_S, SMALL_TIME_S = 57.0, 27.0
"""A pair's time up to LARGEST, and up to SMALL_LARGEST bytes: one minute and half of it, with start and end."""
TRAIN = 32
PRECISION = 0.02
MODES = {mode.name.lower(): mode for mode in PairMode}


@dataclass(frozen=True)
class MeasurementOptions:
    """A measurement's, all decided."""

    output: Path
    quiet: bool
    sizes: dict[int, SizeOrigin]
    train: int
    may_shorten: bool  # trains of long rows
    repetitions: int | None
    warm_up: int
    precision: float
    time_s: float
    mode: PairMode
    ranks: tuple[int, ...]
    seed: int
    collectives: CollectiveDesign | None
    receiver: bool
    one_buffer: bool
    bind: bool

    @property
    def settings(self) -> dict[str, object]:
        """For the file: all but the sizes, which have a table."""
        return {key: value for key, value in vars(self).items() if key not in ("sizes", "output", "quiet")} | {
            "mode": self.mode.name.lower(), "largest": max(self.sizes),
            "collectives": asdict(self.collectives) if self.collectives else None}  # fmt: skip


def decide(
    said: config.MeasurementConfig,
    ranks_in_world: int,
    *,
    output: Path,
    quiet: bool = False,
    min_size: int = 1,
    max_size: int | None = None,
    steps: Sequence[tuple[int, int]] = (),
    train: int | None = None,
    loop: int | None = None,
    skip: int = 1,
    precision: float = PRECISION,
    time_s: float | None = None,
    mode: str | None = None,
    ranks: Sequence[int] = (),
    seed: int = 0,
    collectives: CollectiveDesign | None = None,
    receiver: bool = False,
    one_buffer: bool = False,
    bind: bool = True,
) -> MeasurementOptions:
    """Merge options: the command line wins over the file, the file over defaults.

    Args:
        said: Options of the file.
        ranks_in_world: Number of ranks that there are.

    Raises:
        TracelibError: Options contradict each other or the number of ranks.
    """
    if said.processes not in (None, ranks_in_world):
        raise TracelibError(f"the options file is for {said.processes} processes, but there are {ranks_in_world}")
    segments = list(steps) or said.segments
    largest = max_size or said.largest or (max(end for _, end in segments) if segments else LARGEST)
    if min_size > largest:
        raise TracelibError(f"the smallest size, {min_size}, is above the largest, {largest}")
    if segments:
        sizes = dict.fromkeys((s for s in plan.by_segments(segments, largest) if s >= min_size), SizeOrigin.CONFIGURED)
    else:
        sizes = dict.fromkeys(plan.logarithmic(min_size, largest), SizeOrigin.LOGARITHMIC)
    if not sizes:
        raise TracelibError(f"no size of the plan lies from {min_size} to {largest}")
    n = train or said.train or TRAIN
    if n < 2:
        raise TracelibError("a train needs at least 2 messages")
    repetitions = loop or said.times or (1 if segments else None)
    chosen_mode = MODES[mode] if mode else PairMode.SUBGROUP if ranks else said.mode or PairMode.SAMPLING
    if time_s is None:
        time_s = float("inf") if repetitions else SMALL_TIME_S if largest <= SMALL_LARGEST else TIME_S
    return MeasurementOptions(
        output=output,
        quiet=quiet,
        sizes=sizes,
        train=n,
        may_shorten=train is None and said.train is None and repetitions is None,
        repetitions=repetitions,
        warm_up=skip,
        precision=precision,
        time_s=time_s,
        mode=chosen_mode,
        ranks=tuple(ranks or said.ranks),
        seed=seed,
        collectives=collectives,
        receiver=receiver,
        one_buffer=one_buffer,
        bind=bind,
    )
