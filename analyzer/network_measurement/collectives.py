"""Measured collectives, and predictions of broadcasts beside the measured times."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from analyzer.errors import TracelibError
from analyzer.network_measurement.broadcast_models import ALGORITHMS, LinkAtSize, broadcast_time
from analyzer.recording.rank_file.limited import opened
from analyzer.recording.rank_file.tables import DAMAGED, rows_of
from tracelib.schema.net_collectives import TABLES


@dataclass(frozen=True)
class ModelAccuracy:
    """Statistics of the relative errors (predicted - measured) / measured, as fractions. NaN: nothing was compared."""

    settings: int  # number of settings that were compared
    bias: float  # mean of the errors; below 0: predictions are too low
    dispersion: float  # root mean square of the errors' deviations from the bias
    rms: float  # root mean square of the errors: rms^2 = bias^2 + dispersion^2
    mape: float  # mean of the errors' absolute values


def accuracy(predicted: np.ndarray, measured: np.ndarray) -> ModelAccuracy:
    """Compare predicted with measured values, setting by setting.

    Args:
        predicted: Predicted values.
        measured: Measured values above 0, of the same shape.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of a damaged file they are infinite, or not numbers
        error = np.asarray(predicted, float) / np.asarray(measured, float) - 1
        if error.size == 0:
            return ModelAccuracy(0, *[float("nan")] * 4)
        rms = float(np.sqrt((error**2).mean()))
        return ModelAccuracy(error.size, float(error.mean()), float(error.std()), rms, float(abs(error).mean()))


class LinkModel(Protocol):
    """Parameters of a link as functions of the message size in bytes (LoOgGP). Times are in s."""

    @property
    def latency_s(self) -> float:
        """Latency L."""

    def overhead(self, size: Any) -> Any:
        """Return the overhead o(s) for `size` bytes."""

    def gap(self, size: Any) -> Any:
        """Return the gap g(s) for `size` bytes."""


@dataclass(frozen=True)
class MeasuredCollective:
    """Measurements of one collective in one setting, over all repetitions. Times are in s."""

    name: str
    ranks: int
    bytes: int
    segment_bytes: int
    segments: int
    repetitions: int
    time_s: float  # median over the repetitions; of each, the median time until the critical responder has the data
    spread: float  # (largest - smallest) / median over the repetitions of `time_s`
    naive_s: float  # median over the repetitions of the mean time, at the root, in a loop without answers
    naive_spread: float
    responders: Mapping[int, int]  # number of repetitions by critical responder (rank)
    right: bool  # all ranks received the right data in all repetitions
    model_s: float | None = None  # predicted time of a broadcast; None: no network model, or no broadcast


@dataclass(frozen=True)
class CollectiveComparison:
    """All measured settings, and the accuracy of the predicted times by broadcast algorithm."""

    settings: tuple[MeasuredCollective, ...]
    models: Mapping[str, ModelAccuracy]


def compare(rows: np.ndarray, network: LinkModel | None = None) -> CollectiveComparison:
    """Compare measured collectives with the predictions of a network model.

    Args:
        rows: Rows of the table `collectives` or `broadcasts` of a network measurement.
        network: The model. None: there are no predictions.
    """
    settings = tuple(_measured(name, group, network) for name, group in _by_setting(rows))
    models = {}
    for algorithm in ALGORITHMS:
        of = [m for m in settings if m.name == algorithm and m.model_s is not None and m.time_s > 0]
        if of:
            predicted = np.array([m.model_s for m in of], float)
            models[algorithm] = accuracy(predicted, np.array([m.time_s for m in of]))
    return CollectiveComparison(settings, models)


def read_compared(path: str | os.PathLike[str], network: LinkModel | None = None) -> dict[str, CollectiveComparison]:
    """Read the tables "collectives" and "broadcasts" of a network measurement, and compare them with predictions.

    Args:
        path: File of the measurement.
        network: The model. None: there are no predictions.

    Returns:
        Comparisons by the table's name. Tables that are missing or empty are left out.

    Raises:
        TracelibError: The file is damaged.
    """
    found = {}
    try:
        with opened(path) as file:
            for table, columns in TABLES.items():
                if table in file and len(rows := rows_of(file, table, columns)):
                    found[table] = compare(rows, network)
    except DAMAGED as error:
        text = " ".join(str(error).split())
        raise TracelibError(f"{path} is a damaged network measurement: {text}", "measure again") from error
    return found


def link_at(network: LinkModel, size_bytes: int) -> LinkAtSize:
    """Return the parameters of a link for messages of `size_bytes` bytes."""
    first, whole = float(network.gap(1)), float(network.gap(size_bytes))
    per_byte = (whole - first) / (size_bytes - 1) if size_bytes > 1 else 0.0
    return LinkAtSize(network.latency_s, float(network.overhead(size_bytes)), first, per_byte)


def _by_setting(rows: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield name and rows of each setting, in the order in which settings were first measured."""
    names = [_text(name) for name in rows[(rows.dtype.names or ("",))[0]]]
    keys = zip(names, *(rows[column].tolist() for column in ("ranks", "bytes", "segment_bytes")), strict=True)
    places: dict[tuple, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    for key, found in places.items():
        yield key[0], rows[found]


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _measured(name: str, rows: np.ndarray, network: LinkModel | None) -> MeasuredCollective:
    first = rows[0]
    ranks, size = int(first["ranks"]), int(first["segment_bytes"])
    model_s = None
    if network is not None and name in ALGORITHMS:
        link = link_at(network, size)
        model_s = float(broadcast_time(name, link, ranks, int(first["segments"]), size))
    responders, number = np.unique(rows["responder"], return_counts=True)
    return MeasuredCollective(
        name=name,
        ranks=ranks,
        bytes=int(first["bytes"]),
        segment_bytes=size,
        segments=int(first["segments"]),
        repetitions=len(rows),
        time_s=float(np.median(rows["median_s"])),
        spread=_spread(rows["median_s"]),
        naive_s=float(np.median(rows["naive_s"])),
        naive_spread=_spread(rows["naive_s"]),
        responders=dict(zip(responders.tolist(), number.tolist(), strict=True)),
        right=bool(rows["right"].all()),
        model_s=model_s,
    )


def _spread(times_s: np.ndarray) -> float:
    middle = float(np.median(times_s))
    return float(np.ptp(times_s)) / middle if middle > 0 else float("nan")
