"""Results of the commands, each with its numbers, its JSON and its text.

`analyze` prints them, `analyzer.open(...)` returns them. A module here is named as its command.
"""
