"""Samples of a node, NAME.ranks/system-HOST.h5: the table `samples` and its attributes (docs/format.md)."""

from enum import Enum


class Kind(Enum):
    """Kind of a column of `samples`."""

    GAUGE = "gauge"  # the value at the moment of the sample
    COUNTER = "counter"  # grows since the node was started
    CPU_TIME = "CPU time"  # a counter; all columns of this kind together are the time of all CPUs


SYSTEM_TIMES = ("monotonic_ns", "realtime_ns")
"""The first columns of `samples`: CLOCK_MONOTONIC and CLOCK_REALTIME when the sample was taken."""

SYSTEM = {
    "load_1": ("processes", Kind.GAUGE),
    "load_5": ("processes", Kind.GAUGE),
    "load_15": ("processes", Kind.GAUGE),
    "cpu_user": ("s", Kind.CPU_TIME),
    "cpu_system": ("s", Kind.CPU_TIME),
    "cpu_iowait": ("s", Kind.CPU_TIME),
    "cpu_steal": ("s", Kind.CPU_TIME),
    "cpu_idle": ("s", Kind.CPU_TIME),
    "cpu_frequency": ("MHz", Kind.GAUGE),
    "memory_used": ("bytes", Kind.GAUGE),
    "memory_available": ("bytes", Kind.GAUGE),
    "swap_used": ("bytes", Kind.GAUGE),
    "network_sent": ("bytes", Kind.COUNTER),
    "network_received": ("bytes", Kind.COUNTER),
    "network_packets_sent": ("packets", Kind.COUNTER),
    "network_packets_received": ("packets", Kind.COUNTER),
    "disk_read": ("bytes", Kind.COUNTER),
    "disk_written": ("bytes", Kind.COUNTER),
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
