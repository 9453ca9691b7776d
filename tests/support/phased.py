"""Paraver traces of ranks that compute in phases with a barrier after each: every factor is known by hand."""

from pathlib import Path

import numpy as np

BARRIER, COLLECTIVE, COMMUNICATOR, INSTRUCTIONS, CYCLES = 8, 50000002, 50100004, 42000050, 42000059


def write_phases(
    path: Path,
    durations: np.ndarray,
    latency_ns: int = 0,
    instructions: np.ndarray | float | None = None,
    clock_ghz: float = 2.0,
    ipc: float = 1.0,
) -> Path:
    """durations: ns of shape (phases, ranks). A barrier ends `latency_ns` after its last rank has entered it.

    Cycles are duration x clock, instructions cycles x ipc unless they are given in the shape of durations. In the
    barriers, too, instructions and cycles are counted, which are none of the computation.
    """
    phases, ranks = durations.shape
    cycles = durations * clock_ghz
    counted = np.broadcast_to(cycles * ipc if instructions is None else instructions, durations.shape)
    lines, begin = [], 0
    for phase in range(phases):
        enters = begin + durations[phase]
        leave = int(enters.max()) + latency_ns
        for rank, enter in enumerate(enters.tolist()):
            who = f"{rank + 1}:1:{rank + 1}:1"
            counts = f"{INSTRUCTIONS}:{round(counted[phase, rank])}:{CYCLES}:{round(cycles[phase, rank])}"
            lines.append((begin, f"1:{who}:{begin}:{enter}:1"))
            lines.append((enter, f"1:{who}:{enter}:{leave}:13"))
            lines.append((enter, f"2:{who}:{enter}:{COLLECTIVE}:{BARRIER}:{COMMUNICATOR}:1:{counts}"))
            lines.append((leave, f"2:{who}:{leave}:{COLLECTIVE}:0:{INSTRUCTIONS}:70000:{CYCLES}:90000"))
        begin = leave
    tasks = ",".join("1:1" for _ in range(ranks))
    head = f"#Paraver (01/01/2026 at 00:00):{begin}_ns:1({ranks}):1:{ranks}({tasks})"
    path.write_text("\n".join([head, *(line for _, line in sorted(lines, key=lambda line: line[0]))]) + "\n")
    return path


def with_factors(ranks: int, span_ns: int, transfer: float, dependencies: float, balance: float) -> tuple:
    """Durations (2 phases) and latency of a run with these factors, of at least 3 ranks.

    The first two ranks compute max(t_i) = dependencies x transfer x T each, but one most of it before the first
    barrier, the other after it, so that the ideal network takes transfer x T. The others share what is left of P x
    balance x max(t_i).
    """
    ideal = transfer * span_ns
    longest = dependencies * ideal
    short = longest - ideal / 2
    rest = (ranks * balance - 2) * longest / (ranks - 2)
    assert short >= 0 and 0 <= rest <= longest, "no such run"
    durations = np.full((2, ranks), rest / 2)
    durations[:, 0] = ideal / 2, short
    durations[:, 1] = short, ideal / 2
    return np.rint(durations).astype(np.int64), round((span_ns - ideal) / 2)
