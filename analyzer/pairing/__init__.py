"""What belongs together, by MPI's rules: calls that are one collective, a call and its request, epochs of windows.

Works on any `Trace`, for readers and analyses alike. No time is judged here: who waited is for `waits` to say.
"""
