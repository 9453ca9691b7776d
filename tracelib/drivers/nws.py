"""The Network Weather Service: latency and bandwidth between nodes during an experiment (section 2.3.1.2 of the
thesis).

NWS is driven by its own programs: `nws_ctrl` starts and stops an activity, `nws_extract` prints its series. They have
to be in the PATH of the first rank.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from xml.sax.saxutils import escape, quoteattr

from tracelib.drivers.driver import BEGIN, END, Driver, folder
from tracelib.errors import TracelibError

CONFIGURATION, DEFAULT = "TRACELIB_NWS", "nws.conf"
"""Variable: the file that names NWS's hosts (Fig. 2.6)."""
ENDING = ".nws.xml"
SERIES = {"latencyTcp": "nws_latency", "bandwidthTcp": "nws_bandwidth"}
"""NWS's name of a series, and the parameter that is its mean: ms, Mbit/s."""
_FIELDS = "time,source,destination,measurement"
_TIMEOUT_S = 60
_MOST = "100000"


@dataclass(frozen=True)
class NwsHosts:
    """Where NWS runs."""

    nameserver: str
    memory: str
    sensors: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> NwsHosts:
        """Parse lines `nameserver H`, `memoryserver H`, `sensors N`, `sensor H`. Raises ValueError with the error."""
        found: dict[str, list[str]] = {"nameserver": [], "memoryserver": [], "sensors": [], "sensor": []}
        for number, line in enumerate(text.splitlines(), start=1):
            words = line.split("#")[0].split()
            if words and (len(words) != 2 or words[0] not in found):
                raise ValueError(f"line {number}: expected one of {', '.join(found)} and a value")
            if words:
                found[words[0]].append(words[1])
        for name in ("nameserver", "memoryserver"):
            if len(found[name]) != 1:
                raise ValueError(f"expected one line {name} HOST")
        if found["sensors"] not in ([], [str(len(found["sensor"]))]) or len(found["sensor"]) < 2:
            raise ValueError(f"expected two sensors at least, as many as sensors says, not {len(found['sensor'])}")
        return cls(found["nameserver"][0], found["memoryserver"][0], tuple(found["sensor"]))


class NwsDriver(Driver):
    """Starts TCP measurements among all sensors at the begin. At the end it stops them, keeps their series in
    EXPERIMENT.ID.nws.xml, and says their means."""

    name, observables, moments = "NWS", ("NWS_*",), (BEGIN, END)

    def read(self, moment: str, experiment: str) -> Mapping[str, float]:
        hosts = _hosts()
        activity = f"tracelib-{experiment}"
        begun = folder() / f".{activity}.begun"
        if moment == BEGIN:
            members = [f"member:{sensor}" for sensor in hosts.sensors]
            kind = [f"name:{activity}", "controlName:clique", "skillName:tcpMessageMonitor", "period:1"]
            begun.write_text(f"{int(time.time())}\n")
            _run("nws_ctrl", "-N", hosts.nameserver, "start", hosts.sensors[0], *kind, *members)
            return {}
        since = begun.read_text().strip() if begun.exists() else "0"
        begun.unlink(missing_ok=True)
        _run("nws_ctrl", "-N", hosts.nameserver, "stop", hosts.sensors[0], activity)
        options = ["-a", "-h", "0", "-n", _MOST, "-t", since, "-f", _FIELDS, "-M", hosts.memory]
        series = {name: _rows(_run("nws_extract", *options, name, *hosts.sensors)) for name in SERIES}
        _write(folder() / f"{experiment}.{time.time_ns() // 1000}{ENDING}", experiment, hosts.sensors, series)
        return {SERIES[name]: fmean(row[3] for row in rows) for name, rows in series.items() if rows}


def _hosts() -> NwsHosts:
    path = Path(os.environ.get(CONFIGURATION) or DEFAULT)
    try:
        return NwsHosts.parse(path.read_text())
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", f"{CONFIGURATION} names NWS's hosts") from error
    except ValueError as error:
        raise TracelibError(f"{path}: {error}") from error


def _run(*words: str) -> str:
    """Run a program of NWS and return its output. Raises TracelibError."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise TracelibError(f"cannot start {words[0]}: {error.strerror}", "is NWS in the PATH?") from error
    except subprocess.TimeoutExpired as error:
        raise TracelibError(f"{words[0]} did not answer in {_TIMEOUT_S} s") from error
    if done.returncode:
        raise TracelibError(f"{' '.join(words[:4])}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


Row = tuple[float, str, str, float]
"""Time (s since 1970), source, destination, measurement."""


def _rows(text: str) -> list[Row]:
    """Return the lines of nws_extract that are measurements."""
    found = []
    for words in (line.split() for line in text.splitlines()):
        try:
            when, source, destination, value = words
            found.append((float(when), source, destination, float(value)))
        except ValueError:
            continue
    return found


def _write(path: Path, experiment: str, nodes: Sequence[str], series: Mapping[str, Iterable[Row]]) -> None:
    """Write TIA's XML (analyzer.experiments.formats.tia_xml), which `analyze table` reads: a row for each
    measurement."""
    headers = (("time", "real"), ("source", "text"), ("destination", "text"), ("series", "text"), ("value", "real"))
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<cll_data program={quoteattr(experiment)}>"]
    lines += [f'<cll_experiment name={quoteattr(experiment)} driver="NWS">', "<machines>"]
    lines += [f"<node>{escape(node)}</node>" for node in nodes]
    lines += ["</machines>", "<headers>", *(f'<h type="{kind}">{name}</h>' for name, kind in headers), "</headers>"]
    lines.append("<sample>")
    for name, rows in series.items():
        for when, source, destination, value in rows:
            cells = (repr(when), escape(source), escape(destination), name, repr(value))
            lines.append(f"<row>{''.join(f'<c>{cell}</c>' for cell in cells)}</row>")
    lines += ["</sample>", "</cll_experiment>", "</cll_data>", ""]
    part = path.with_name(f".{path.name}.tmp")
    try:
        part.write_text("\n".join(lines))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
