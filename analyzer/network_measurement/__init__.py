"""Fit of a LoOgGP model to a network measurement, and comparison of the model with measured collectives.

`sample` and `repetitions` prepare rows. `intervals` finds the sizes at which the network changes its behaviour.
`estimate` fits the model. `projections` reduces it to older models. `collectives` compares predictions with times.
"""
