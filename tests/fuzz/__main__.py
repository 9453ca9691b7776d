"""`make fuzz`: runs a campaign and prints what it found; the exit code is 1 if a command failed."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from fuzz.campaign import COMMAND, Campaign, Result
from fuzz.commands import warm
from fuzz.corpus import MAKERS, build
from fuzz.report import tables
from fuzz.worker import LIMIT_BYTES

FIRST = 1
MOST = 10_000


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("-n", "--inputs", type=int, default=MOST, help=f"how many [{MOST}]")
    parser.add_argument("--seed", type=int, default=FIRST, help=f"of the random numbers [{FIRST}]")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin at this number [0]")
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="these inputs alone")
    parser.add_argument(
        "--kind", nargs="+", choices=list(MAKERS), help="of these kinds (numbers then mean other inputs)"
    )
    parser.add_argument("--no-limit", action="store_true", help="any memory: sanitizers need terabytes of addresses")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/fuzz"), help="folder for what failed")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """The exit code; words: of the command line, which it takes if there are none."""
    said = _arguments(words)
    warm()
    folder = said.output.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    numbers = said.only or range(said.first, said.first + said.inputs)
    results: list[Result] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as seeds:
        chosen = build(Path(seeds), said.kind)
        campaign = Campaign(chosen, said.seed, folder, 0 if said.no_limit else LIMIT_BYTES)
        with suppress(KeyboardInterrupt):  # Ctrl-C: what there is
            for result in campaign.results(numbers):
                results.append(result)
                if result.failure:
                    print(f"{result.failure}: {campaign.kept(result) / COMMAND}", flush=True)
    print(tables(results, time.monotonic() - began))
    return int(any(result.failure for result in results))


if __name__ == "__main__":
    sys.exit(main())
