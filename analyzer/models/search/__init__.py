"""Search of the best subsets of given terms: `exact` tries all, `genetic` is for too many terms to try all.

`space` prepares the terms. All searches give a `ModelSelection`.
"""
