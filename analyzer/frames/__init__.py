"""All data of a trace as tables of all ranks: calls, messages, regions, iterations, waits, places.

docs/python.md describes them for users.
"""
