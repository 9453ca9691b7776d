"""What a run gains from more ranks, which factor takes it away, and what more ranks still would make of it.

Source: M. Casas, "Spectral analysis of executions" (2009), chapter 4. `parameters` measures one run, `model` compares
several by the multiplicative model, `variants` two programs by it; `extrapolation` and `prediction` go on to more
ranks.
"""
