"""Choice of models without named terms: powers and logarithms of parameters, weighted by how well they fit the data.

`shapes` has the functions of one parameter. `families` makes models of a few terms. `free_sums` combines terms freely.
`likely_models` weighs all models and chooses.
"""
