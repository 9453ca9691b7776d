"""Matching by MPI's rules: calls that are one collective, a call and its request, epochs of RMA windows.

Works on any `Trace`, for readers and analyses alike. No time is judged here: analyzer/waits finds which rank waited.
"""
