"""Matching of sends and receives, and treatment of those that have no other side.

This package takes threads (`thread_records`) of all ranks, window by window, and returns messages. It imports nothing
of `run`.
"""
