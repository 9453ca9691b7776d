"""`python -m benchmarks.synthetic PATTERN RANKS CALLS -o FOLDER`: writes a synthetic run."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.synthetic.run import PATTERNS, write_run
from benchmarks.synthetic.world import SLOW_FACTOR, slow_ranks


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.synthetic", description="Write a synthetic run.")
    parser.add_argument("pattern", choices=PATTERNS)
    parser.add_argument("ranks", type=int, help="4 to 65536")
    parser.add_argument("calls", type=float, help="mean number of calls a rank")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="new, or without run.ranks")
    given = parser.parse_args()
    written = write_run(given.output, given.pattern, given.ranks, given.calls, given.seed)
    slow = ", ".join(map(str, slow_ranks(given.ranks)))
    print(f"{written.path}, {written.calls} calls; ranks {slow} compute {SLOW_FACTOR:g} times as long as the others")


main()
