"""The claims of the scheduling studies (experiments E1 to E7), tried on every policy.

`python -m benchmarks.scheduling` prints them.

Source: "Dimemas specification", section 4.8 (thesis, section 8.1).
"""
