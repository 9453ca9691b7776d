"""`python -m tracelib`, for where the script is not on the PATH."""

from tracelib.cli import main

main()
