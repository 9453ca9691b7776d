"""The names that a traced program gave to its regions, parameters and events, the same on all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.sources.rank_file.rank_file import RankFile
from analyzer.sources.rank_file.tables import text_of
from tracelib.schema import LabelKind

_NO_NUMBERS = np.zeros(1, np.int32)


@dataclass(frozen=True)
class Labels:
    """Names of a run. Numbers count from 1; `regions[n - 1]` is the name of region n."""

    regions: tuple[str, ...]
    parameters: tuple[str, ...]
    events: dict[int, tuple[str, dict[int, str]]]  # type -> (label, value -> label)
    numbers: dict[
        int, tuple[np.ndarray, np.ndarray]
    ]  # by rank: number in the run of each region, parameter of the file


def merge_labels(files: Sequence[RankFile]) -> Labels:
    """The names in all rank files. Each rank numbers its regions in the order in which it meets them; equal names are
    one region. Of several names of one event the last of the last rank counts."""
    regions: dict[str, int] = {}
    parameters: dict[str, int] = {}
    events: dict[int, tuple[str, dict[int, str]]] = {}
    numbers = {}
    for file in files:
        numbers[file.rank] = _number(file, LabelKind.REGION, regions), _number(file, LabelKind.PARAMETER, parameters)
        for row in file.labels:
            label, values = events.get(int(row["type"]), ("", {}))
            if row["kind"] == LabelKind.EVENT_TYPE:
                events[int(row["type"])] = text_of(row["name"]), values
            elif row["kind"] == LabelKind.EVENT_VALUE:
                values[int(row["value"])] = text_of(row["name"])
                events[int(row["type"])] = label, values
    named = {kind: (label or f"Event {kind}", values) for kind, (label, values) in events.items()}
    return Labels(tuple(regions), tuple(parameters), named, numbers)


def _number(file: RankFile, kind: LabelKind, known: dict[str, int]) -> np.ndarray:
    """For each number in the file the number in the run (int32; 0: no such number); new names join `known`."""
    if not len(file.labels):
        return _NO_NUMBERS
    rows = file.labels[(file.labels["kind"] == kind) & (file.labels["value"] > 0) & (file.labels["value"] <= 1 << 16)]
    numbers = np.zeros(int(rows["value"].max(initial=0)) + 1, np.int32)
    for row in rows:
        numbers[row["value"]] = known.setdefault(text_of(row["name"]), len(known) + 1)
    return numbers
