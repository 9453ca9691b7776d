"""File of one rank: found, checked, and read row by row, with HDF5 or without it.

Only this package reads the format of docs/format.md. It knows one file at a time, and no other ranks.
"""
