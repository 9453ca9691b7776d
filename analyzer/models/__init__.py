"""Models of an observable as sums of terms of its parameters (TIA): terms, coefficients, and uncertainties.

`terms` is the language of candidate terms. `fitting` has least squares and criteria. `search` finds the best subsets of
given terms. `choose` finds terms where none are given. `study` combines them into a `Model`. The package takes tables
of numbers; it does not know traces and reports.
"""
