"""Speedup over runs at several rank counts: factors that limit it, and its extrapolation to more ranks.

Source: M. Casas, "Spectral analysis of executions" (2009), chapter 4. `parameters` measures one run, `factor_model`
compares several runs, or two programs, by the multiplicative model; `extrapolation` and `prediction` go on to more
ranks.
"""
