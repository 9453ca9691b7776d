"""Arrays that need not be in memory: on disk in rows, in sorted runs, or put aside to be read again.

These modules bound memory, whatever the columns mean. They know numpy and files, but neither traces nor MPI.
"""
