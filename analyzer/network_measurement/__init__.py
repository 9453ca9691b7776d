"""From the rows of a network measurement to a LoOgGP model, and how far the model predicts measured collectives.

`sample` and `repetitions` prepare rows, `intervals` finds the sizes at which the network changes its behaviour,
`estimate` fits the model, `projections` reduces it to older models, `collectives` compares predictions with times.
"""
