"""The broadcasts that are kept to fit models to are whole."""

import h5py
import numpy as np
from paths import ROOT

from analyzer.network_measurement.collectives import compare
from tracelib.collectives.design import CollectiveDesign
from tracelib.collectives.options import SEGMENTS, SIZES
from tracelib.collectives.trees import ALGORITHMS
from tracelib.schema.net_collectives import BROADCAST

DATA = ROOT / "benchmarks" / "data" / "broadcasts.h5"


def test_every_setting_three_times():
    with h5py.File(DATA) as file:
        rows = file["broadcasts"][:]
    assert rows.dtype.names == BROADCAST.names
    assert rows["right"].all()
    assert (rows["median_s"] > 0).all()
    settings = {(m.name, m.ranks, m.bytes, m.segment_bytes): m for m in compare(rows).settings}
    design = CollectiveDesign(ALGORITHMS, (2, 3, 4), SIZES, SEGMENTS)
    assert set(settings) == {(s.name, s.ranks, s.bytes, s.segment_bytes) for s in design.settings()}
    assert {m.repetitions for m in settings.values()} == {3}
    large = [m.time_s for m in settings.values() if m.bytes == 16384]
    small = [m.time_s for m in settings.values() if m.bytes == 2048]
    assert np.median(large) > np.median(small)
