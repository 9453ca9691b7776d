"""File of one rank: found, checked, and read by ranges of rows, with HDF5 or without it.

Only this package reads the format of docs/format.md. It handles one file at a time, and uses nothing of other ranks.
"""
