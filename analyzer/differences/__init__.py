"""Differences between two runs, or between repetitions of each, and tests of whether they are more than noise.

`measure` turns a run into named figures and, where it has iterations, into samples of the figures. `noise` tests
samples. `compare` puts both sides together.
"""
