"""All that a trace says, as tables of all ranks: calls, messages, regions, iterations, waits, places.

The user's side of it is docs/python.md.
"""
