"""Which send is received by which receive, and what is left over.

Takes lanes (`lane`) of all ranks, window by window; gives messages. Imports nothing of `run`.
"""
