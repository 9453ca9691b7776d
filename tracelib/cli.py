"""The command `tracelib`. What takes time to import is imported where Ctrl-C meanwhile is no traceback either."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from tracelib.commands import run_commands

        code = run_commands()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
