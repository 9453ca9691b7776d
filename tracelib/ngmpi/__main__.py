from tracelib.ngmpi.cli import main

main()
