"""Samples of the nodes, on the clock of the run, from the files NAME.ranks/system-HOST.h5 beside the rank files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.columns.arrays import distinct
from analyzer.errors import TracelibError
from analyzer.recording.rank_file.clock import Clock
from analyzer.recording.rank_file.file import RankFile, unreadable
from analyzer.recording.rank_file.limited import opened
from analyzer.recording.rank_file.tables import DAMAGED, rows_of, text_of, whole_number
from analyzer.trace import Problem
from analyzer.trace.system import NodeSamples
from tracelib import schema
from tracelib.schema import node
from tracelib.schema.sound import SoundAttributes

NAMES = "system-*.h5"
PACKED = "system"
"""NAMES is the pattern of the files of samples, one for each node. PACKED is the group of samples in a packed run."""

_CLOCK = ("host", "boot_id", "time_namespace")
"""Attributes of a rank's file that identify the clock that it read."""
_TEXTS = ("host", "boot_id", "missing")
_TIMES = np.dtype([(name, "<i8") for name in node.SYSTEM_TIMES])


def read_system(
    files: Sequence[RankFile], clocks: Mapping[int, Clock], node_of: np.ndarray
) -> tuple[tuple[NodeSamples, ...], list[Problem]]:
    """Read the samples of all nodes.

    Args:
        files: Files of the ranks.
        clocks: Clock of each rank.
        node_of: Number of each rank's node.

    Returns:
        The samples of each node that has some, by number of the node. Then a Problem for each file that cannot be read,
        or that belongs to no node of the run.
    """
    found, problems = [], []
    first: dict[tuple, RankFile] = {}  # by node: the file of its lowest rank
    for file in sorted(files, key=lambda file: file.rank):
        first.setdefault(tuple(file.attributes[name] for name in _CLOCK), file)
    for path, group in sample_places(files):
        try:
            samples = _read(path, group, first, clocks, node_of)
        except TracelibError as error:
            problems.append(Problem(-1, str(error)))
            continue
        if len(samples.time):
            found.append(samples)
    return tuple(sorted(found, key=lambda samples: samples.node)), problems


def sample_places(files: Sequence[RankFile]) -> list[tuple[Path, str]]:
    """Return path and group of the samples of each node: files beside the rank files, or groups of a packed run."""
    folders = {f.place[: f.place.rfind("/") + 1] for f in files if f.group == "/"}
    places = {(path, "/") for folder in folders for path in Path(folder).glob(NAMES)}
    for path in {f.path for f in files if f.group != "/"}:
        try:
            with opened(path) as file:
                places |= {(path, f"{PACKED}/{host}") for host in file.get(PACKED, ())}
        except DAMAGED as error:
            raise unreadable(path, error) from error
    return sorted(places)


def _read(
    path: Path, group: str, first_of: Mapping[tuple, RankFile], clocks: Mapping[int, Clock], node_of: np.ndarray
) -> NodeSamples:
    attributes, rows = load_samples(path, group)
    place = (text_of(attributes["host"]), text_of(attributes["boot_id"]), attributes["time_namespace"])
    first = first_of.get(place)
    if first is None:
        raise TracelibError(f"{path.name}: no rank that shares the clock of {place[0]} could be read")
    return NodeSamples(
        node=int(node_of[first.rank]),
        rank=first.rank,
        period_ns=attributes["period_ns"],
        cpus=attributes["cpus"],
        memory_total=attributes["memory_total"],
        missing=tuple(text_of(attributes["missing"]).split()),
        ended=bool(attributes["state"]),
        time=_time(first, clocks[first.rank], rows["monotonic_ns"]),
        values={name: rows[name] for name in node.SYSTEM if name in _columns(rows)},
    )


def _columns(rows: np.ndarray) -> tuple[str, ...]:
    return rows.dtype.names or ()


def load_samples(path: Path, group: str = "/") -> tuple[dict, np.ndarray]:
    """Read the samples of a node.

    Rows of zeros were not yet written when the sampler was killed, and are left out.

    Args:
        path: The file.
        group: Group of the samples in the file.

    Returns:
        The attributes, and the rows.

    Raises:
        TracelibError: The samples cannot be used; the message has the reason.
    """
    try:
        with opened(path) as file:
            rows = rows_of(file[group], "samples", _TIMES)
            given = SoundAttributes(file[group])
            if not set(node.SYSTEM_ATTRIBUTES) <= set(given):
                raise TracelibError(f"{path.name}: not the samples of a node")
            attributes = _attributes(given)
    except DAMAGED as error:
        raise unreadable(path, error) from error
    if not 1 <= attributes["schema_version"] <= schema.VERSION:
        raise TracelibError(f"{path.name}: written by a later version")
    if strange := [name for name in node.SYSTEM if name in _columns(rows) and rows.dtype[name].kind not in "iuf"]:
        raise TracelibError(f"{path.name}: {strange[0]} is not a number")
    for name in _columns(rows):
        if not np.isfinite(rows[name]).all():
            raise TracelibError(f"{path.name}: {name} has values that are not finite numbers")
    return attributes, rows[rows["monotonic_ns"] > 0]


def _attributes(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a file of samples, texts as they are stored.

    Raises KeyError if one is missing, and TypeError if one has the wrong type.
    """
    found: dict[str, Any] = {}
    for name in node.SYSTEM_ATTRIBUTES:
        found[name] = given[name] if name in _TEXTS else whole_number(given, name)
        if name in _TEXTS and not isinstance(found[name], bytes | str):
            raise TypeError(f"attribute {name} is not text")
    return found


def _time(file: RankFile, clock: Clock, monotonic_ns: np.ndarray) -> np.ndarray:
    """Convert CLOCK_MONOTONIC of a rank's node to ns of the trace.

    The times are converted to ticks between the rank's pairs of clock readings, and then like all ticks of the rank.
    """
    if not file.attributes["ticks_are_tsc"]:
        return clock.times(monotonic_ns)
    pairs = distinct(file.clock)
    if not len(pairs):
        raise TracelibError(
            f"{file.path.name}: it has no reading of the clock, so the times of its samples are not known"
        )
    ticks, ns = pairs["ticks"], pairs["monotonic_ns"]
    since, rate = (monotonic_ns - ns[0]).astype(float), float(1 / clock.ns_per_tick)
    known, at = (ns - ns[0]).astype(float), (ticks - ticks[0]).astype(float)
    outside = since - np.clip(since, known[0], known[-1])
    passed = np.rint(np.interp(since, known, at) + outside * rate).astype(np.int64)
    return clock.times(ticks[0] + passed.astype(np.uint64))
