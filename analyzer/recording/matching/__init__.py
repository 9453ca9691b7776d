"""Matching of sends and receives, and of what is left over.

Takes threads (`thread_records`) of all ranks, window by window, and returns messages. Imports nothing of `run`.
"""
