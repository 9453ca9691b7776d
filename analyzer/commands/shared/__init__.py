"""What several commands have in common: options, output, errors as one line, files written whole.

No command lives here. `group` is the command line, `../table.py` the list of all commands.
"""
