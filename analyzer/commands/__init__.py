"""The subcommands of `analyze`, one in each file; the docstring of its function is its help."""
