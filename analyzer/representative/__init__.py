"""Small parts of a run that represent the whole: one period of counters, k-means samples, and counters in turns.

Source: M. Casas, "Spectral analysis of executions" (2009), chapter 5.
"""
