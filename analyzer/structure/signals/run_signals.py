"""Signals of a run: step functions of time, summed over threads, as exact means over bins of equal width.

Source: Casas 2009, sections 3.3 and 3.7.2. Flying messages (section 3.3.6) are messages between the begin of the send
and the end of the receive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.structure.signals.counters import CYCLES, FLOPS, INSTRUCTIONS, StepBins, add_counters, counter_named
from analyzer.structure.signals.from_calls import BURSTS, COLLECTIVE, COMPUTING, MESSAGES, add_calls
from analyzer.trace import Trace

FLYING, IPC, CPI = "flying", "ipc", "cpi"
NAMES = {
    BURSTS: "sum of the durations of computing bursts",
    COMPUTING: "processes computing",
    MESSAGES: "processes in calls of messages",
    COLLECTIVE: "processes in collectives",
    FLYING: "messages in flight",
    IPC: "instructions per cycle",
    CPI: "cycles per instruction",
    INSTRUCTIONS: "instructions",
    FLOPS: "floating-point operations",
}
"""Description of each signal; the most dependable first (section 3.7.2)."""
SAMPLES = 1 << 17
"""Default number of bins of a run."""


@dataclass(frozen=True)
class RunSignal:
    """Signal as means over bins of equal width.

    Attributes:
        name: Name of the signal.
        begin_ns: Begin of the first bin.
        width_ns: Width of a bin.
        values: Mean in each bin, float64 of shape (bins,).
    """

    name: str
    begin_ns: int
    width_ns: int
    values: np.ndarray  # (bins,) float64

    @property
    def alpha_hz(self) -> float:
        """Sampling frequency alpha, Hz."""
        return 1e9 / self.width_ns

    def part(self, begin_ns: int, end_ns: int) -> RunSignal:
        """Return the bins that lie wholly between two times."""
        first = max(-(-(begin_ns - self.begin_ns) // self.width_ns), 0)
        last = max((end_ns - self.begin_ns) // self.width_ns, first)
        return RunSignal(self.name, self.begin_ns + first * self.width_ns, self.width_ns, self.values[first:last])


Signals = dict[str, RunSignal]
"""Signals by name."""


def signals(
    trace: Trace,
    team: Team,
    names: Sequence[str] = (BURSTS, COMPUTING, MESSAGES, COLLECTIVE),
    *,
    samples: int = SAMPLES,
    begin_ns: int = 0,
    end_ns: int | None = None,
) -> Signals:
    """Sample signals between two times. Collective over the team.

    Args:
        trace: The run.
        team: Processes that share the work.
        names: Names in NAMES. Any other name means a counter.
        samples: Number of samples.
        begin_ns: Begin of the first sample.
        end_ns: End of the last sample. None: the end of the run.

    Raises:
        TracelibError: The trace has no such counter.
    """
    end = trace.duration_ns if end_ns is None else end_ns
    found: dict[str, StepBins] = {}
    of_counters = set(names) - {COMPUTING, BURSTS, MESSAGES, COLLECTIVE, FLYING}  # means over ranks
    if {COMPUTING, BURSTS, MESSAGES, COLLECTIVE} & set(names):
        found |= add_calls(trace, team, begin_ns, end, samples)
    for name in names:
        if name == FLYING:
            found[name] = _flying(trace, team, begin_ns, end, samples)
        elif name in of_counters:
            meant = {IPC: (INSTRUCTIONS, CYCLES), CPI: (CYCLES, INSTRUCTIONS)}.get(name, (name,))
            counters = [counter_named(trace, counter) for counter in meant]
            found[name] = add_counters(trace, team, counters, begin_ns, end, samples)
    sums = {name: found[name].means(team.total(found[name].packed())) for name in names}
    return {
        name: RunSignal(name, begin_ns, found[name].width_ns, sums[name] / (trace.size if name in of_counters else 1))
        for name in names
    }


def _flying(trace: Trace, team: Team, begin: int, end: int, samples: int) -> StepBins:
    bins = StepBins(begin, end, samples)
    trace.match()
    windows = trace.windows()
    for number in range(team.rank, len(windows) - 1, team.size):
        rows = trace.messages(*windows[number : number + 2].tolist())
        bins.add(rows["logical_send"], rows["physical_receive"])
    return bins


def csv_signal(path: str, samples: int = SAMPLES) -> RunSignal:
    """Read a signal from a CSV file of (time in s, value). Each value holds until the next time.

    A first line without numbers is a heading.

    Args:
        path: Path of the file.
        samples: Number of samples.

    Raises:
        TracelibError: The file cannot be read, or is no such table.
    """
    try:
        text = Path(path).read_text()
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise TracelibError(f"{path} is not text", "expected lines of time,value") from error
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            time, value = map(float, line.split(",")[:2])
        except ValueError as error:
            if number > 1 and line.strip():
                raise TracelibError(f"{path}:{number}: expected time,value") from error
            continue
        rows.append((time, value))
    table = np.array(rows, np.float64).reshape(-1, 2)
    if len(table) < 2 or not np.isfinite(table).all() or np.ptp(table[:, 0]) <= 0 or np.abs(table[:, 0]).max() > 9e9:
        raise TracelibError(f"{path}: too few times", "expected lines of time,value, times in s")
    table = table[np.argsort(table[:, 0], kind="stable")]
    times = np.rint((table[:, 0] - table[0, 0]) * 1e9).astype(np.int64)
    bins = StepBins(0, int(times[-1]), min(samples, max(len(table) - 1, 2)))
    bins.add(times[:-1], times[1:], table[:-1, 1])
    return RunSignal(Path(path).name, 0, bins.width_ns, bins.means(bins.packed()))
