"""Options, output and errors that several commands share.

No command lives here. `group` is the command line, `../table.py` the list of all commands.
"""
