"""Files of network measurements as `python -m tracelib.ngmpi` writes them, of networks whose parameters are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from tracelib.schema import net

US, KB = 1e-6, 1024
TRAIN = 32


@dataclass(frozen=True)
class Network:
    """Intervals as (o us, O us/KB, g us, G us/KB, from, to bytes), and L in us, as the thesis prints them."""

    latency: float
    intervals: tuple[tuple[float, float, float, float, int, int], ...]

    def times(self, size: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """T_o, T_g and PRTT(1, 0, s) of each size, seconds."""
        lasts = np.array([interval[5] for interval in self.intervals])
        rows = np.array(self.intervals)[np.minimum(np.searchsorted(lasts, size), len(lasts) - 1)]
        more = (size - 1) / KB
        overhead, gap = rows[:, 0] + rows[:, 1] * more, rows[:, 2] + rows[:, 3] * more
        one = 2 * (self.latency + gap - self.intervals[0][2])
        return overhead * US, gap * US, one * US


LARGE = {
    "GB+MPICH": Network(73.1, ((12.65, 1.39, 10.09, 12.34, 1, 32769), (-314.38, 14.25, -146.65, 14.84, 34817, 161793),
                               (-427.67, 14.77, -427.99, 16.74, 163841, 202753))),
    "GB+OpenMPI": Network(124.1, ((9.97, 1.30, 1.86, 8.49, 1, 63489), (216.41, 1.47, 208.80, 8.68, 65537, 202753))),
    "IB+OpenMPI": Network(6.1, ((5.98, 1.75, 8.72, 1.96, 1, 11265), (41.66, 2.01, 43.28, 2.03, 12289, 202753))),
    "IB+MVAPICH": Network(5.6, ((3.82, 0.29, 6.17, 1.44, 1, 11265), (41.30, 1.79, 44.23, 1.79, 12289, 55297),
                                (40.68, 1.79, 48.84, 1.72, 57345, 94209), (49.60, 1.75, 46.10, 1.78, 96257, 202753))),
}  # fmt: skip
"""Table 3.2 of the thesis."""
SMALL = {
    "GB+MPICH": Network(70.8, ((12.22, 0.85, 20.08, 0.57, 1, 1271), (13.73, 1.21, 3.39, 13.43, 1301, 4091))),
    "GB+OpenMPI": Network(124.0, ((8.26, 1.04, 11.24, 1.10, 1, 1301), (9.89, 1.29, 3.91, 7.44, 1331, 4091))),
    "IB+OpenMPI": Network(5.9, ((6.11, 1.62, 9.06, 1.73, 1, 4091),)),
    "IB+MVAPICH": Network(7.8, ((3.90, 0.42, 7.05, 0.96, 1, 1241), (4.32, 0.19, 6.38, 1.44, 1271, 4091))),
}
"""Table 3.3."""
LARGE_CHANGES = {"GB+MPICH": 32769, "GB+OpenMPI": 63489, "IB+OpenMPI": 11265, "IB+MVAPICH": 11265}
"""The last size before the change that a protocol's limit explains."""
SMALL_CHANGES = {"GB+MPICH": 1271, "GB+OpenMPI": 1301, "IB+MVAPICH": 1241}


def by_steps(*segments: tuple[int, int]) -> np.ndarray:
    """Sizes from 1 by (step, end)."""
    sizes, size = [], 1
    for step, end in segments:
        while size <= end:
            sizes.append(size)
            size += step
    return np.array(sizes)


LARGE_SIZES = by_steps((256, 2048), (512, 10240), (1024, 32768), (2048, 204800))
SMALL_SIZES = by_steps((10, 1000), (30, 4096))


def measured(
    network: Network,
    sizes: np.ndarray,
    seed: int = 0,
    noise: float = 0.01,
    times: int = 10,
    disturbed: float = 0.0,
    disturbance_s: tuple[float, float] = (1e-4, 1e-2),
) -> np.ndarray:
    """Rows (net.ROW): `times` of each size, with normal `noise` as a share of T_o, T_g, L and PRTT(1,0,s).

    Each of the four times of a row is, with the chance `disturbed`, longer by `disturbance_s` (logarithmically
    uniform), and nothing tells so.
    """
    random = np.random.default_rng(seed)
    rows = np.zeros(len(sizes) * times, net.ROW)
    rows["size"], rows["train"] = np.repeat(sizes, times), TRAIN
    rows["repetition"] = np.tile(np.arange(times), len(sizes))

    def shaken(time: np.ndarray) -> np.ndarray:
        return time * (1 + noise * random.standard_normal(len(rows)))

    overhead, gap, one = network.times(rows["size"])
    zero = network.times(np.ones(len(rows)))[2]
    rows["one_s"], rows["zero_s"] = shaken(one), shaken(zero)
    rows["delay_s"] = rows["waited_s"] = 2 * rows["one_s"]
    rows["train_s"] = one + (TRAIN - 1) * shaken(gap)
    rows["delayed_s"] = one + (TRAIN - 1) * (shaken(overhead) + rows["waited_s"])
    for column in ("one_s", "train_s", "delayed_s", "zero_s"):
        which = random.random(len(rows)) < disturbed
        rows[column][which] += np.exp(random.uniform(*np.log(disturbance_s), which.sum()))
    rows["start_s"] = np.cumsum(rows["one_s"] + rows["train_s"] + rows["delayed_s"] + rows["zero_s"])
    return rows


def in_visits(
    network: Network,
    sizes: np.ndarray,
    seed: int = 0,
    visits: int = 12,
    noise: float = 0.02,
    slow: float = 0.0,
    spell_s: float = 0.01,
    shared_noise: float = 0.0,
    disturbed: float = 0.0,
) -> np.ndarray:
    """Rows (net.ROW) as the command measures: all sizes in turns, a row that warms up and five that count a visit.

    The network is at times slower, for `spell_s` on average and the share `slow` of the time: a message of one byte
    takes twice as long, overheads and gaps 1.3 and 1.2 times, all that less for large messages. The rows of a visit
    have `shared_noise` in common. `disturbed`: as for `measured`.
    """
    random = np.random.default_rng(seed)
    order = np.concatenate([random.permutation(sizes) for _ in range(visits)])
    size = np.repeat(order, IN_VISIT + 1)
    rows = measured(network, size, seed, noise, times=1, disturbed=disturbed)
    rows["flags"] = np.where(np.arange(len(rows)) % (IN_VISIT + 1) == 0, int(net.RowFlag.WARM_UP), 0)
    overhead, gap, one = network.times(size)
    at_slow = _spells(random, one * (3 * TRAIN), slow, spell_s)
    shared = np.repeat(1 + shared_noise * random.standard_normal(len(order)), IN_VISIT + 1)

    def longer(factor: float, at: np.ndarray | float = 1.0) -> np.ndarray:
        """By how much of the time, at the level of each row."""
        return shared * np.where(at_slow, 1 + (factor - 1) / (1 + at / 40_000), 1.0) - 1

    rows["one_s"] += one * longer(2.0, size)
    rows["zero_s"] += network.times(np.ones(len(rows)))[2] * longer(2.0)
    rows["train_s"] += one * longer(2.0, size) + (TRAIN - 1) * gap * longer(1.2, size)
    rows["delayed_s"] += one * longer(2.0, size) + (TRAIN - 1) * overhead * longer(1.3, size)
    return rows


IN_VISIT = 5


def _spells(random: np.random.Generator, row_s: np.ndarray, share: float, spell_s: float) -> np.ndarray:
    """Which rows are in one of the spells that take `share` of the time; those between them are as long on average as
    makes that so."""
    if not share:
        return np.zeros(len(row_s), bool)
    number = int(3 * row_s.sum() / spell_s) + 20
    means = spell_s * np.tile([1.0, (1 - share) / share], number)
    ends = np.cumsum(random.exponential(means)) - random.uniform(0, 10 * spell_s)
    return np.searchsorted(ends, np.cumsum(row_s)) % 2 == 0


def write_net(path: Path, rows: np.ndarray, pairs: list[tuple[int, int, str]] | None = None) -> Path:
    """A file of these rows. `pairs`: (first rank, second rank, "intra" or "inter") that their column `pair` counts."""
    pairs = pairs or [(0, 1, "intra")]
    table = [(a, b, 0, int(where == "inter"), "0", "1", where, int(net.PairMode.FULL), 0) for a, b, where in pairs]
    sizes = np.unique(rows["size"])
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": net.FORMAT, "version": net.VERSION, "tracelib": "0", "date": "2026-01-01 00:00"})
        file.attrs.update({"command": "ngmpi", "mpi": "An MPI 1.0", "mpi_vendor": "An MPI", "settings": "{}"})
        file["hosts"] = np.array([("alpha", 2, "a cpu", "1.0"), ("beta", 2, "a cpu", "1.0")], net.HOST)
        file["pairs"] = np.array(table, net.PAIR)
        file["rows"] = rows
        file["plan"] = np.array([(size, 0) for size in sizes.tolist()], net.PLAN)
    return path
