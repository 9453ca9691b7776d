"""Arrays that need not fit into memory: rows in temporary files, sorted by time or stored under keys.

These modules bound memory, whatever the columns mean. They use numpy and files, but know neither traces nor MPI.
"""
