"""One file a subcommand of `analyze`; its docstring is its help."""
