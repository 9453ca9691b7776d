"""Timed broadcasts beside the models, from rows whose answers are found by hand."""

import io

import h5py
import numpy as np
import pytest
from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.network_measurement.broadcast_models import ALGORITHMS, LinkAtSize, broadcast_time
from analyzer.network_measurement.collectives import compare, link_at, read_compared
from analyzer.report.collectives import collectives_json, compared_json, print_collectives, print_compared
from tracelib.schema.net_collectives import BROADCAST, COLLECTIVE


class Network:
    """10 us of latency, 1 us + 1 ns a byte of overhead, a gap of 2 us + 3 ns a byte."""

    latency_s = 10e-6

    def overhead(self, size):
        return 1e-6 + 1e-9 * (size - 1)

    def gap(self, size):
        return 2e-6 + 3e-9 * (size - 1)


def rows(dtype, *settings):
    """(name, ranks, bytes, segment, [median of each repetition], [naive], [responder])."""
    found = []
    for name, ranks, size, segment, medians, naive, responders in settings:
        for repetition, (m, n, r) in enumerate(zip(medians, naive, responders, strict=True)):
            row = np.zeros(1, dtype)[0]
            for column, value in {
                "ranks": ranks, "bytes": size, "segment_bytes": segment, "segments": -(-size // segment),
                "repetition": repetition, "median_s": m, "naive_s": n, "responder": r, "right": True,
            }.items():  # fmt: skip
                row[column] = value
            row[dtype.names[0]] = name
            found.append(row)
    return np.array(found, dtype)


def test_repetitions_of_a_setting_become_one():
    table = rows(BROADCAST, ("linear", 3, 100, 50, [4e-6, 2e-6, 3e-6], [9e-6, 1e-6, 2e-6], [2, 1, 2]))
    (m,) = compare(table).settings
    assert (m.name, m.ranks, m.bytes, m.segments, m.repetitions) == ("linear", 3, 100, 2, 3)
    assert (m.time_s, m.naive_s, m.responders) == (3e-6, 2e-6, {1: 1, 2: 2})
    assert (m.spread, m.naive_spread) == (pytest.approx(2 / 3), pytest.approx(4.0))
    assert m.model_s is None


def test_models_are_told_what_a_segment_sees():
    assert link_at(Network(), 1) == LinkAtSize(10e-6, 1e-6, 2e-6, 0.0)
    link = link_at(Network(), 1001)
    assert (link.overhead_s, link.gap_s) == (pytest.approx(2e-6), 2e-6)
    assert link.gap_s_per_byte == pytest.approx(3e-9)


def test_errors_of_the_models():
    """Measured 25 % above, and twice, what the model says: it is 20 % and 50 % too short."""
    times = {}
    for algorithm in ALGORITHMS:
        link = LinkAtSize(10e-6, 1e-6 + 1e-9 * 999, 2e-6, 3e-9)
        times[algorithm] = [float(broadcast_time(algorithm, link, ranks, 4, 1000)) for ranks in (4, 8)]
    table = rows(BROADCAST, *(
        (algorithm, ranks, 4000, 1000, [factor * time], [time], [1])
        for algorithm in ALGORITHMS
        for ranks, factor, time in zip((4, 8), (1.25, 2.0), times[algorithm], strict=True)
    ))  # fmt: skip
    compared = compare(table, Network())
    for algorithm in ALGORITHMS:
        a = compared.models[algorithm]
        assert (a.settings, a.bias, a.mape) == (2, pytest.approx(-0.35), pytest.approx(0.35))
        assert a.dispersion == pytest.approx(0.15)
        assert [m.model_s for m in compared.settings if m.name == algorithm] == pytest.approx(times[algorithm])


def test_mpi_s_own_collectives_have_no_model():
    table = rows(COLLECTIVE, ("bcast", 2, 100, 100, [1e-6], [1e-6], [1]))
    compared = compare(table, Network())
    assert compared.models == {}
    assert [m.model_s for m in compared.settings] == [None]


def shown(compared):
    text = io.StringIO()
    print_compared("Broadcasts", compared, Console(file=text, width=80))
    return text.getvalue()


def test_what_is_shown():
    table = rows(
        BROADCAST,
        ("linear", 3, 100, 50, [4e-6, 2e-6, 3e-6], [9e-6, 1e-6, 6e-6], [2, 1, 2]),
        ("linear", 3, 100, 100, [5e-6, 5e-6, 5e-6], [5e-6, 5e-6, 5e-6], [2, 2, 2]),
    )
    text = shown(compare(table, Network()))
    line = next(line for line in text.splitlines() if line.strip().startswith("linear"))
    assert line.split() == [
        "linear",
        "3",
        "2",
        "3.00us",
        "5.00us",
        "33",
        "%",
        "150",
        "%",
        "67",
        "%",
        "2",
        "(83.3",
        "%)",
    ]
    assert "bias" in text
    assert "not every rank" not in text
    table["right"][0] = False
    assert "In 1 setting not every rank received what was sent" in shown(compare(table))
    assert shown(compare(table[:0])) == ""


def test_as_json():
    data = compared_json(compare(rows(BROADCAST, ("linear", 2, 8, 8, [0.0], [1e-6], [1])), Network()))
    assert data["settings"][0]["spread"] is None
    assert data["settings"][0]["responders"] == {1: 1}
    assert data["models"] == {}


def test_a_file(tmp_path):
    """Tables that are not there, or are empty, are not shown; text comes back from HDF5 as bytes."""
    path = tmp_path / "net.h5"
    with h5py.File(path, "w") as file:
        file["rows"] = [1]
        file.create_dataset("collectives", data=rows(COLLECTIVE))
        file.create_dataset("broadcasts", data=rows(BROADCAST, ("binary", 2, 8, 8, [1e-6], [1e-6], [1])))
    found = read_compared(path, Network())
    assert [m.name for m in found["broadcasts"].settings] == ["binary"]
    assert list(collectives_json(found)) == ["broadcasts"]
    text = io.StringIO()
    print_collectives(found, Console(file=text, width=80))
    assert text.getvalue().startswith("Broadcasts along trees of messages")
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(TracelibError, match="damaged"):
        read_compared(path)
