"""The claims of the scheduling studies (experiments E1 to E7, mixes of three), tried on every policy.

`python -m benchmarks.scheduling` prints them.

Source: "Dimemas specification", sections 4.8 to 4.10 (thesis, chapter 8).
"""
