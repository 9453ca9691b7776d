"""A model out of observed messages: what it says at their sizes, between them, and how sure it is."""

import pytest

from analyzer.loggp.model import LoOgGP
from analyzer.loggp.observed import BoundedEstimate, MessageWay, SizeClass
from analyzer.loggp.observed_model import model_of


def size_class(size, time, overhead=None, trust="good"):
    kind = size.bit_length()
    return SizeClass(1 << kind - 1, (1 << kind) - 1, 100, 100, size, time, None, overhead, trust, "")


def way(*classes):
    return MessageWay("intra", 300, 300, 300, 0, 0.0, classes)


THREE = way(
    size_class(1, BoundedEstimate(2e-6, 1.9e-6, 2.2e-6), BoundedEstimate(0.5e-6, 0.5e-6, 0.6e-6)),
    size_class(1001, BoundedEstimate(4e-6, 3.9e-6, 4.1e-6), BoundedEstimate(1.5e-6, 1.5e-6, 1.5e-6)),
    size_class(11001, BoundedEstimate(34e-6, 33e-6, 35e-6), BoundedEstimate(31.5e-6, 31.5e-6, 32e-6)),
)


def test_ways_and_overheads_are_joined_by_lines():
    model = model_of(THREE)
    assert (model.latency_s, model.latency_ci) == (2e-6, (1.9e-6, 2.2e-6))
    for size, time in ((1, 2e-6), (501, 3e-6), (1001, 4e-6), (6001, 19e-6), (11001, 34e-6), (21001, 64e-6)):
        assert model.time(size) == pytest.approx(time)
    for size, time in ((1, 0.5e-6), (501, 1e-6), (1001, 1.5e-6), (6001, 16.5e-6)):
        assert model.overhead(size) == pytest.approx(time)
    assert [(i.from_bytes, i.to_bytes) for i in model.intervals] == [(1, 1000), (1001, 11001)]


def test_the_gap_is_the_overhead_or_what_the_bytes_take():
    """At 1 byte 0.5 us of MPI_Send; at 1001 bytes 2 us more than one byte takes, and MPI_Send less; at 11001 32 us."""
    model = model_of(THREE)
    assert [model.gap(size) for size in (1, 1001, 11001)] == pytest.approx([0.5e-6, 2e-6, 32e-6])
    low, high = model.intervals[0].gap.start_ci
    assert (low, high) == (pytest.approx(0.5e-6), pytest.approx(2.2e-6))


def test_intervals_hold_every_line_through_the_ranges():
    line = model_of(THREE).pieces[1].way
    assert line.slope_ci == (pytest.approx((33e-6 - 4.1e-6) / 1e4), pytest.approx((35e-6 - 3.9e-6) / 1e4))
    for first in (3.9e-6, 4.1e-6):
        for last in (33e-6, 35e-6):
            slope = (last - first) / 1e4
            assert line.slope_ci[0] <= slope * (1 + 1e-9)
            assert slope <= line.slope_ci[1] * (1 + 1e-9)
            assert line.start_ci[0] <= first - 1000 * slope + 1e-18 <= line.start_ci[1] + 1e-18


def test_without_mpi_send_the_overhead_may_be_anything_up_to_the_way():
    model = model_of(
        way(size_class(1, BoundedEstimate(2e-6, 2e-6, 3e-6)), size_class(1001, BoundedEstimate(4e-6, 4e-6, 4e-6)))
    )
    assert model.overhead(500) == 0
    assert model.intervals[0].overhead.start_ci == (pytest.approx(-0.0), pytest.approx(3e-6))


def test_what_is_not_trusted_is_left_out():
    wrong = size_class(100, BoundedEstimate(9e-6, 1e-6, 99e-6), trust="no")
    assert model_of(way(THREE.classes[0], wrong, THREE.classes[1])).time(100) == pytest.approx(2.198e-6)
    assert model_of(way(THREE.classes[0], wrong)) is None
    assert model_of(way()) is None


def test_it_can_be_written_and_read(tmp_path):
    model_of(THREE).write(tmp_path / "model.json")
    back = LoOgGP.read(tmp_path / "model.json")
    assert back.about["source"] == "trace"
    assert back.time(6001) == pytest.approx(19e-6)
