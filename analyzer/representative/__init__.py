"""Small parts of a run that stand for all of it: its period, by counters; samples by k-means; and counters in turn.

Source: M. Casas, "Spectral analysis of executions" (2009), chapter 5.
"""
