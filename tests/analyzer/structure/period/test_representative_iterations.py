"""The iterations that stand for all others lie inside the values, wherever the period and the phase are rounded to."""

import numpy as np
import pytest

from analyzer.structure.levels.periodic_stretches import representative


@pytest.mark.parametrize("samples", range(60, 68))
@pytest.mark.parametrize("period", [8.5, 8.7440, 6.1, 10.99])
def test_it_lies_inside_the_values(samples, period):
    values = np.sin(2 * np.pi * np.arange(samples) / period)
    assert 0 <= representative(values, period) <= samples - round(period)
