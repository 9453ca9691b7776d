"""One rank's file: found, checked, and read row by row, with HDF5 or without it.

What stands in docs/format.md is read here and nowhere else. Knows one file at a time, and nothing of other ranks.
"""
