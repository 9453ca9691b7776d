"""`make apps`: real applications from Debian, traced and compared; writes the table of docs/validation.md.

`make apps APPS="gromacs abinit"` tries these only, and leaves the rows of others as they are."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import matrix
from apps import checks, commands, table
from apps.application import Application
from apps.cost import measure_cost
from apps.debian import NotInstalled, install
from apps.measure import ROOT, measure
from apps.registry import ALL, BY_NAME
from building import build_counter
from matrix import Leg

WORK = ROOT / "build" / "apps"
SAMPLED = {"TRACELIB_SAMPLE": "10ms"}


def fresh(folder: Path) -> Path:
    """The folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def try_under(application: Application, leg: Leg, counter: Path) -> tuple[table.Row | None, list[str]]:
    """The application's row in the table, and what is wrong; no row where it did not run."""
    folder = fresh(WORK / f"{application.name}-{leg.name}")
    spool = {"TRACELIB_SPOOL": str(fresh(folder / "spool"))}
    try:
        measured = measure(application, leg, counter, folder, spool | SAMPLED)
        cost = measure_cost(application, leg, fresh(folder / "cost"), spool)
    except AssertionError as failed:
        return None, [str(failed)]
    messages = checks.read_messages(measured.run)
    numbers, wrong = commands.check_commands(measured)
    return table.Row(application, leg, measured, cost, messages, numbers), checks.check_recording(
        measured, messages
    ) + wrong


def legs_of(application: Application, legs: dict[str, Leg]) -> Iterator[Leg]:
    """Return the legs under which the application is tried."""
    for name in application.legs:
        if legs[name].missing:
            raise NotInstalled(legs[name].missing)
        yield legs[name]


def try_all(applications: list[Application]) -> int:
    """How many did not run or were wrong. Each is said as soon as it is known; what was right gets its row at once."""
    counters: dict[str, Path] = {}
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        legs = {leg.name: leg for leg in matrix.legs(Path(scratch))}
        for application in applications:
            try:
                install(application.packages)
                for leg in legs_of(application, legs):
                    if leg.name not in counters:
                        counters[leg.name] = build_counter(leg, fresh(WORK / f"counter-{leg.name}"))
                    begin = time.monotonic()
                    row, wrong = try_under(application, leg, counters[leg.name])
                    say(f"{application.name}, {leg.name}", wrong, time.monotonic() - begin)
                    if row and not wrong:
                        table.write(row)
                    failed += bool(wrong)
            except NotInstalled as reason:
                say(application.name, [f"not installed: {reason}"], 0)
                failed += 1
    return failed


def say(what: str, wrong: list[str], took_s: float) -> None:
    """One line, and one for each finding."""
    print(f"{what}: {'right' if not wrong else f'{len(wrong)} findings'} ({took_s:.0f} s)", flush=True)
    for finding in wrong:
        print("    " + finding.replace("\n", "\n    "), flush=True)


def main(names: list[str]) -> int:
    """Exit code: 0 if all ran and nothing was wrong."""
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        print(f"no application {', '.join(unknown)}; there are {', '.join(BY_NAME)}", file=sys.stderr)
        return 2
    failed = try_all([BY_NAME[name] for name in names] or list(ALL))
    if failed:
        print(f"{failed} failed; their files are in {WORK.relative_to(ROOT)}")
    else:
        print(f"all right; written to {table.PAGE.relative_to(ROOT)}")
    return 1 if failed else 0


sys.exit(main(sys.argv[1:]))
