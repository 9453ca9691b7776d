"""Ganglia: what its daemon gmond knows of all nodes at the end of an experiment (section 2.3.1.1 of the thesis)."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping

from tracelib.drivers.driver import END, Driver, folder
from tracelib.errors import TracelibError

ADDRESS, DEFAULT = "TRACELIB_GANGLIA", "localhost:8649"
"""Variable: HOST:PORT of a gmond. The port is the one that gmond listens at."""
ENDING = ".ganglia.xml"
_TIMEOUT_S = 10
_LARGEST = 1 << 28


class GangliaDriver(Driver):
    """gmond writes its XML to whoever connects, and closes. The text is kept as it is, in EXPERIMENT.ID.ganglia.xml;
    the parameter `ganglia` of the region is ID, by which `analyze table --ganglia` finds it."""

    name, observables, moments = "Ganglia", ("GANGLIA_*",), (END,)

    def read(self, moment: str, experiment: str) -> Mapping[str, float]:
        address = os.environ.get(ADDRESS) or DEFAULT
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            raise TracelibError(f"{ADDRESS}={address} is not HOST:PORT", f"such as {DEFAULT}")
        text = _reply(host, int(port))
        if b"<GANGLIA_XML" not in text[:65536]:
            raise TracelibError(f"what answers at {address} is not gmond", f"set {ADDRESS}")
        number = time.time_ns() // 1000  # microseconds: a double holds it exactly
        path = folder() / f"{experiment}.{number}{ENDING}"
        part = path.with_name(f".{path.name}.tmp")
        try:
            part.write_bytes(text)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return {"ganglia": number}


def _reply(host: str, port: int) -> bytes:
    parts, length = [], 0
    try:
        with socket.create_connection((host, port), timeout=_TIMEOUT_S) as connection:
            while part := connection.recv(1 << 16):
                parts.append(part)
                length += len(part)
                if length > _LARGEST:
                    raise TracelibError(f"the answer of {host}:{port} has no end")
    except OSError as error:
        raise TracelibError(f"no answer of gmond at {host}:{port}: {error.strerror or error}") from error
    return b"".join(parts)
