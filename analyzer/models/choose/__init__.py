"""Models where nobody names terms: powers and logarithms of the parameters, weighed by how well they explain the data.

`shapes` has the functions of one parameter, `evidence` weighs models of a few terms, `families` makes them, `choose`
puts them together.
"""
