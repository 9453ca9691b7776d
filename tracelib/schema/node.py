"""Samples of a node, NAME.ranks/system-HOST.h5: the table `samples` and its attributes (docs/format.md)."""

from enum import Enum


class SampleKind(Enum):
    """Kind of a column of `samples`."""

    GAUGE = "gauge"  # the value at the moment of the sample
    COUNTER = "counter"  # grows since the node was started
    CPU_TIME = "CPU time"  # a counter; all columns of this kind together are the time of all CPUs


SYSTEM_TIMES = ("monotonic_ns", "realtime_ns")
"""The first columns of `samples`: CLOCK_MONOTONIC and CLOCK_REALTIME when the sample was taken."""

SYSTEM = {
    "load_1": ("processes", SampleKind.GAUGE),
    "load_5": ("processes", SampleKind.GAUGE),
    "load_15": ("processes", SampleKind.GAUGE),
    "cpu_user": ("s", SampleKind.CPU_TIME),
    "cpu_system": ("s", SampleKind.CPU_TIME),
    "cpu_iowait": ("s", SampleKind.CPU_TIME),
    "cpu_steal": ("s", SampleKind.CPU_TIME),
    "cpu_idle": ("s", SampleKind.CPU_TIME),
    "cpu_frequency": ("MHz", SampleKind.GAUGE),
    "memory_used": ("bytes", SampleKind.GAUGE),
    "memory_available": ("bytes", SampleKind.GAUGE),
    "swap_used": ("bytes", SampleKind.GAUGE),
    "network_sent": ("bytes", SampleKind.COUNTER),
    "network_received": ("bytes", SampleKind.COUNTER),
    "network_packets_sent": ("packets", SampleKind.COUNTER),
    "network_packets_received": ("packets", SampleKind.COUNTER),
    "disk_read": ("bytes", SampleKind.COUNTER),
    "disk_written": ("bytes", SampleKind.COUNTER),
}
"""Unit and kind of what is sampled on a node: columns of `samples` in NAME.ranks/system-HOST.h5, float64 in s, MHz and
processes, else int64. A machine that cannot tell a quantity has no column of it."""

SYSTEM_ATTRIBUTES = (
    "schema_version",
    "host",
    "boot_id",
    "time_namespace",
    "period_ns",
    "cpus",
    "memory_total",
    "missing",  # names of the quantities that the machine does not give, separated by blanks
    "state",  # 0 sampling or killed, 1 ended with its ranks
)

SYSTEM_PERIOD_MS = (10, 3_600_000)
"""Shortest and longest time between two samples."""
