"""How long a repeat takes, from evenly sampled values: `period_of`."""

from analyzer.structure.period.autocorrelation import Period, period_of

__all__ = ["Period", "period_of"]
