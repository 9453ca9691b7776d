"""Quantities of a node, read with psutil: load, memory, network, disk, CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import psutil

from tracelib.schema.node import SYSTEM

Reading = Mapping[str, float]


def _load() -> Reading:
    return dict(zip(("load_1", "load_5", "load_15"), psutil.getloadavg(), strict=True))


def _cpu() -> Reading:
    """Read CPU seconds of all CPUs since the start.

    Time of a virtual machine's guests is in `user` already.
    """
    times = psutil.cpu_times()
    parts = {
        "cpu_user": ("user", "nice"),
        "cpu_system": ("system", "irq", "softirq"),
        "cpu_iowait": ("iowait",),
        "cpu_steal": ("steal",),
        "cpu_idle": ("idle",),
    }
    sums = {
        name: [getattr(times, field) for field in fields if hasattr(times, field)] for name, fields in parts.items()
    }
    return {name: sum(values) for name, values in sums.items() if values}


def _frequency() -> Reading:
    frequency = psutil.cpu_freq()
    return {"cpu_frequency": frequency.current} if frequency and frequency.current else {}


def _memory() -> Reading:
    memory = psutil.virtual_memory()
    return {"memory_used": memory.used, "memory_available": memory.available}


def _swap() -> Reading:
    return {"swap_used": psutil.swap_memory().used}


def _network() -> Reading:
    """Read sums over all interfaces but the loopback, over which a message would count twice."""
    interfaces = psutil.net_io_counters(pernic=True)
    described = psutil.net_if_stats()
    flags = {name: getattr(stats, "flags", "").split(",") for name, stats in described.items()}
    real = [c for name, c in interfaces.items() if name != "lo" and "loopback" not in flags.get(name, ())]
    if not interfaces:
        return {}
    return {
        "network_sent": sum(c.bytes_sent for c in real),
        "network_received": sum(c.bytes_recv for c in real),
        "network_packets_sent": sum(c.packets_sent for c in real),
        "network_packets_received": sum(c.packets_recv for c in real),
    }


def _disk() -> Reading:
    disks = psutil.disk_io_counters()
    return {"disk_read": disks.read_bytes, "disk_written": disks.write_bytes} if disks else {}


_SOURCES: tuple[Callable[[], Reading], ...] = (_load, _cpu, _frequency, _memory, _swap, _network, _disk)


def _read(source: Callable[[], Reading]) -> Reading:
    """Read a source; {} if this machine, or its container, does not show what psutil reads."""
    try:
        return source()
    except (OSError, AttributeError, NotImplementedError, RuntimeError, ValueError):
        return {}


class NodeQuantities:
    """The quantities that this machine gives, found out once; `names` are in the order of SYSTEM."""

    def __init__(self) -> None:
        first = [(source, _read(source)) for source in _SOURCES]
        given = {name for _, reading in first for name in reading}
        self._sources = [source for source, reading in first if reading]
        self._last = {name: value for _, reading in first for name, value in reading.items()}
        self.names = tuple(name for name in SYSTEM if name in given)
        self.missing = tuple(name for name in SYSTEM if name not in given)

    def read(self) -> tuple[float, ...]:
        """Read all values now; one that cannot be read this time keeps its old value."""
        for source in self._sources:
            self._last |= _read(source)
        return tuple(self._last[name] for name in self.names)


def machine() -> dict[str, int]:
    """Return the constants of this node: `cpus`, and `memory_total` in bytes. 0: unknown."""
    memory = _read(lambda: {"total": psutil.virtual_memory().total})
    return {"cpus": psutil.cpu_count() or 0, "memory_total": int(memory.get("total", 0))}
