"""The machine that runs are replayed on: what it is, how it is read and written, and its numbers by name.

`machine` has the type; `cfg*` and `toml*` its two forms as files; `parameters` and `fields` what analyses vary. Knows
nothing of the simulator, which takes a `Machine` (`replay`).
"""
