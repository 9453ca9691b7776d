"""The command `analyze`. What takes time to import is imported where being ended meanwhile is no traceback either."""

from __future__ import annotations

import signal
import sys

from analyzer import ending

COMMANDS = {
    "check": ("check:check", "Is the trace whole?"),
    "critical-path": ("critical_path:critical_path_command", "What determines the run's length, and who has slack."),
    "dim": ("dim:dim", "Write a Dimemas trace."),
    "efficiency": ("efficiency:efficiency_command", "Parallel efficiency and its factors."),
    "fit-machine": ("fit_machine:fit_machine", "The machine on which replays take as long as runs did."),
    "info": ("info:info", "The first look, writing nothing."),
    "limits": ("limits:limits_command", "What limits the run: network, load, or computation."),
    "loggp": ("loggp:loggp", "Latency, overhead and gap of the network."),
    "look": ("look:look", ""),
    "machine": ("machine:machine_command", "Print a machine, or turn a Dimemas .cfg into TOML and back."),
    "monte-carlo": ("monte_carlo:monte_carlo", "How predicted times spread with the machine's parameters."),
    "pack": ("pack:pack", "Compress a run into one file."),
    "profile": ("profile:profile_command", "How many threads compute at each instant."),
    "prv": ("prv:prv", "Write a Paraver trace."),
    "replay": ("replay:replay_command", "What the run would do on another machine."),
    "ring": ("ring:ring", "Make a synthetic application: a message goes around a ring."),
    "sensitivity": ("sensitivity:sensitivity_command", "Which parameters of the machine matter, and from where on."),
    "validate": ("validate:validate_command", "Predictions from a run against what another one took."),
    "waits": ("waits:waits_command", "Where ranks wait, and who makes them wait."),
    "what-if": ("what_if:what_if_command", "What faster computation in a region would gain."),
}
"""Where in analyzer.commands each command is, and its line in the list; without a line it is not listed."""


def main(arguments: list[str] | None = None) -> int:
    """Run `analyze` with these arguments (default: the command line's); returns the exit code."""
    try:
        with ending.raised():
            from analyzer.commands.group import run

            return run(arguments)
    except ending.Ended as end:
        print(end, file=sys.stderr)
        return 128 + end.number
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        ending.discard_all()


if __name__ == "__main__":
    sys.exit(main())
