"""Models of an observable as sums of terms of its parameters (TIA): which terms, with which coefficients, how sure.

`terms` is the language of candidates, `fitting` least squares and criteria, `search` finds the best subsets of given
terms, `choose` finds terms where none are given, `study` puts them together into a `Model`. Takes tables of numbers,
knows nothing of traces and reports.
"""
