"""The numbers of a machine's parameters: by hand, as docs/machine.md counts them."""

from dataclasses import fields

import numpy as np

from analyzer.machine.description import CpuScheduling, Machine, Network, Node, PriorityLevel
from analyzer.machine.drawn_numbers import ParameterNumbering

ALL = {
    "speed": [1, 6], "latency_s": [2, 7], "intra_latency_s": [3, 8], "intra_bandwidth_mb": [4, 9],
    "wan_latency_s": [5, 10], "bandwidth_mb": [11, 12, 13], "wan_bandwidth_mb": [14], "eager_limit": [15],
    "slice_ns": [16], "context_switch_ns": [17], "busy_wait_ns": [18], "least_run_ns": [19], "cpus": [20, 26],
    "links_out": [21, 27], "links_in": [22, 28], "intra_buses": [23, 29], "intra_links_out": [24, 30],
    "intra_links_in": [25, 31], "buses": [32, 33, 34], "quantum_ns": [35, 36], "tick_ns": [37], "decay_ns": [38],
    "load_ns": [39], "settle_ns": [40],
}  # fmt: skip
"""Numbers of each quantity, for two nodes, three networks and two levels."""


def test_numbers():
    numbers = ParameterNumbering(nodes=2, networks=3, levels=2)
    assert {name: numbers.of_each(name).tolist() for name in ALL} == ALL
    assert {name: [numbers.of(name, k) for k in range(len(found))] for name, found in ALL.items()} == ALL


def test_each_is_one_parameter():
    found = np.concatenate(list(ALL.values()))
    assert sorted(found) == list(range(1, len(found) + 1))


def test_of_a_machine():
    level = PriorityLevel(1, 0, 0)
    machine = Machine(networks=(Network(),) * 3, scheduling=CpuScheduling(levels=(level, level)))
    assert ParameterNumbering.of_machine(machine, ranks=2) == ParameterNumbering(nodes=2, networks=3, levels=2)


def test_all_that_may_be_random():
    """Every field that may have a law has a number."""
    random = {
        f.name
        for kind in (Node, Network, Machine, CpuScheduling, PriorityLevel)
        for f in fields(kind)
        if _is_quantity(f)
    }
    assert random == set(ALL)


def _is_quantity(field):
    return field.type in ("Quantity", "Count", "Count | None")
