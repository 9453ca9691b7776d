"""The command `analyze`. What takes time to import is imported where being ended meanwhile is no traceback either."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from analyzer import signal_handling


def main(arguments: list[str] | None = None) -> int:
    """Run `analyze` with these arguments (default: the command line's); returns the exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no matrix here is worth the start of a thread for each CPU
    try:
        with signal_handling.raised():
            from analyzer.commands.group import run

            return run(arguments)
    except signal_handling.EndRequested as end:
        print(end, file=sys.stderr)
        return 128 + end.number
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        signal_handling.discard_all()


def command() -> NoReturn:
    """Run `analyze` as a process of its own: the result of `main` is its exit code."""
    code = main()
    if "mpi4py.MPI" not in sys.modules and any(thread.daemon for thread in threading.enumerate()):
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """End at once. Python ends a thread that works still by an exception, and one of them in C++ aborts the process."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    command()
