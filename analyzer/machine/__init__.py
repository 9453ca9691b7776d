"""The machine on which runs are replayed: its description, its files, and its parameters by name.

`description` has the type. `cfg*` and `toml*` are its two forms as files. `parameters` and `fields` are what analyses
vary. This package does not know the simulator, which takes a `Machine` (`replay`).
"""
