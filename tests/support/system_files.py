"""Files of samples of nodes."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
from synthetic import ORIGIN_NS, REALTIME_NS

from tracelib import schema
from tracelib.schema import node

COLUMNS = {
    "load_1": (0.25, 1.5, 1.0, 0.5),
    "cpu_user": (100.0, 100.5, 101.5, 101.5),
    "cpu_system": (10.0, 10.25, 10.25, 10.25),
    "cpu_iowait": (1.0, 1.0, 1.5, 1.5),
    "cpu_idle": (500.0, 500.25, 502.25, 502.25),
    "memory_used": (2**30, 3 * 2**30, 2**31, 2**30),
    "network_received": (1000, 1600, 1600, 1500),  # an interface went away before the last sample
    "disk_written": (7, 7, 4103, 4104),
}


MISSING = [name for name in node.SYSTEM if name not in COLUMNS]


TIMES = (200, 400, 600, 800)


def write_samples(folder: Path, times=TIMES, columns=COLUMNS, *, host="node0", boot_id="boot", **attributes) -> Path:
    """system-HOST.h5 in the folder of rank files, as docs/format.md describes it; times in ns of the run."""
    path = folder / "run.ranks" / f"system-{host}.h5"
    dtype = [(name, "<i8") for name in node.SYSTEM_TIMES]
    dtype += [(name, "<f8" if isinstance(values[0], float) else "<i8") for name, values in columns.items()]
    rows = np.zeros(len(times), dtype)
    rows["monotonic_ns"], rows["realtime_ns"] = ORIGIN_NS + np.array(times), REALTIME_NS + np.array(times)
    for name, values in columns.items():
        rows[name] = values
    values = {"schema_version": schema.VERSION, "host": host, "boot_id": boot_id, "time_namespace": 0, "state": 1}
    values |= {"period_ns": 200, "cpus": 2, "memory_total": 2**33, "missing": " ".join(MISSING)} | attributes
    with h5py.File(path, "w", libver="earliest") as file:
        file.create_dataset("samples", data=rows, maxshape=(None,), chunks=(1024,))
        for name, value in values.items():
            file.attrs[name] = np.bytes_(value) if isinstance(value, str) else np.int64(value)
    return path
