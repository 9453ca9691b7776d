"""The POP efficiencies of a run, of its regions, and of several runs: what is lost, and to what.

Takes sums from `metrics`, and the run on an ideal network from `replay`. Gives small dataclasses; `report` makes text
of them.
"""
