"""Arrays that need not be in memory: on disk in rows, in sorted runs, or put aside to be read again.

Here lives what bounds memory, whatever the columns mean. Knows numpy and files; nothing of traces or of MPI.
"""
