"""The POP efficiencies of a run, of its regions, and of several runs: how much time is lost, and to which factor.

Takes sums from `metrics`, and the run on an ideal network from `replay`. Returns small dataclasses; `report` turns them
into text.
"""
