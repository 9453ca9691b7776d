"""Run with dying.c preloaded: recovers copies of a run, each killed one step later than the one before.

    python dying_recoveries.py RUN FOLDER

After each death the run must read as before, and a second recovery must complete it; the last recovery, which was not
killed, ends the program. Prints the number of deaths.
"""

import ctypes
import os
import shutil
import sys
from pathlib import Path

from rows import all_rows, assert_same_rows

from analyzer.opening import open_trace
from tracelib import recovery

die_at = ctypes.CDLL(None).die_at


def read(run: Path):
    trace = open_trace(run.with_suffix(".ranks"))
    rows = all_rows(trace)
    trace.close()
    return rows


def recover_and_die(run: Path, step: int) -> bool:
    """Recover in a child that is killed at its step-th change of a file; whether it was."""
    child = os.fork()
    if child == 0:
        die_at(step)
        recovery.recover(str(run))
        die_at(0)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -9), status
    return status == -9


def main() -> None:
    run, spools = Path(sys.argv[1]), Path(sys.argv[2])
    saved = run.parent / "saved"
    shutil.copytree(run.with_suffix(".ranks"), saved / "ranks")
    shutil.copytree(spools, saved / "spools")
    expected, deaths = read(run), 0
    while recover_and_die(run, deaths + 1):
        deaths += 1
        assert_same_rows(expected, read(run))
        recovery.recover(str(run))
        assert_same_rows(expected, read(run))
        assert not list(spools.iterdir())
        assert not list(run.with_suffix(".ranks").glob("*.tmp"))
        run.unlink()
        for source, target in ((saved / "ranks", run.with_suffix(".ranks")), (saved / "spools", spools)):
            shutil.rmtree(target)
            shutil.copytree(source, target)
    assert_same_rows(expected, read(run))
    print(deaths)


main()
