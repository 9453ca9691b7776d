"""The published results of Casas 2009, recomputed from its tables, and what is found here beside them: `make results`.

R1 to R11 are numbered as the parts of docs/results.md; each module has some of them.
"""
