"""Broadcasts by theory and by selection: errors beside a fit by hand, and what the page says."""

import math

import numpy as np
import pandas
import pytest
from paths import ROOT

from analyzer.loggp.line_fit import CostLine as Straight
from analyzer.loggp.model import LoOgGP, SizeInterval
from analyzer.network_measurement.collectives import read_compared
from benchmarks.studies.broadcasts import DATA, HEAD, KEPT, frame_of, lines_of, refined_sizes

PLAIN = {"__builtins__": {}, "floor": math.floor, "ceil": math.ceil, "log2": math.log2, "min": min}


@pytest.fixture(scope="module", params=KEPT)
def found(request):
    return list(lines_of(DATA / request.param))


def by_hand(model, frame):
    """Root mean square error of the best coefficients of these terms, by numpy."""
    rows = frame[["ns", "ms", "P"]].to_dict("records")
    columns = np.array([[eval(term.replace("^", "**"), PLAIN, row) for term in model.terms] for row in rows], float)
    time = frame["time"].to_numpy()
    best = np.linalg.lstsq(columns / time[:, None], np.ones(len(time)), rcond=None)[0]
    return float(np.sqrt(np.mean((columns @ best / time - 1) ** 2)))


def test_selection_is_nearer_than_theory_and_says_its_error(found):
    name = KEPT[0] if found[0].mpi.startswith("Open MPI") else KEPT[1]
    settings = read_compared(DATA / name)["broadcasts"].settings
    for line in found:
        frame = frame_of([m for m in settings if m.name == line.algorithm])
        assert len(frame) == line.theory.settings
        for of in (line.plain, line.refined):
            assert of.accuracy.rms == pytest.approx(by_hand(of.model, frame), rel=1e-4)
            assert of.accuracy.rms < 0.15 < line.theory.rms
        assert line.refined.accuracy.rms < 0.11
        assert line.refined.accuracy.rms < line.plain.accuracy.rms
    if name == KEPT[0]:
        assert max(line.refined.accuracy.rms for line in found) < 0.05
        assert max(line.refined.model.cross_validation_error for line in found) < 0.06


def test_the_page_has_these_lines(found):
    """To a tenth of a percent or so: the last digit may be another elsewhere."""
    page = (ROOT / "docs" / "studies.md").read_text()
    assert HEAD in page
    for line in found:
        start = "| ".join(["", *line.line.split("| ")[1:3]])
        (shown,) = [row for row in page.splitlines() if row.startswith(start)]
        for ours, there in zip(line.line.split(" | "), shown.split(" | "), strict=True):
            if "%" in ours:
                assert float(ours.strip("| %")) == pytest.approx(float(there.strip("| %")), abs=1.01)
            else:
                assert ours == there


def test_protocols_that_many_segments_see_are_terms():
    """Among 1, 2, 4, 8 and 16 KB, changes at 4 and 8 have enough settings on both sides; changes at 1 and 17 do not."""
    flat = Straight(0.0, 0.0, (0.0, 0.0), (0.0, 0.0))
    ends = [(1, 1000), (1024, 4000), (4096, 8000), (8192, 17000), (17408, 20000)]
    network = LoOgGP(1e-6, (1e-6, 1e-6), tuple(SizeInterval(low, high, flat, flat) for low, high in ends))
    frame = pandas.DataFrame({"ms": [1.0, 2, 4, 8, 16]})
    assert refined_sizes(frame, network) == "{ns},{ms,min(1,floor(ms/4)),min(1,floor(ms/8))}"
