"""Result of `analyze loggp` of a network measurement: a model for each kind of pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.network_measurement.collectives import CollectiveComparison
from analyzer.network_measurement.estimate import LinkEstimate, PairModel
from analyzer.network_measurement.netfile import NetworkMeasurement
from analyzer.report.collectives import collectives_json, print_collectives
from analyzer.report.network import estimate_json, print_comparison, print_estimate, print_head, print_pairs
from analyzer.results.result import Result, print_lines


@dataclass(frozen=True)
class MeasuredNetwork:
    """One kind of pair.

    Attributes:
        where: Whether the pairs are within a node or between nodes.
        estimates: An estimate by each detector that was asked for.
        pairs: How its pairs differ.
    """

    where: str
    estimates: list[LinkEstimate]
    pairs: list[PairModel]


@dataclass(frozen=True, repr=False)
class NetworkResult(Result):
    """Models of a network, by kind of pair.

    Attributes:
        file: Path of the measurement.
    """

    file: str
    _measurement: NetworkMeasurement
    _networks: Sequence[MeasuredNetwork]
    _collectives: Mapping[str, CollectiveComparison]
    _written: Sequence[Path]

    def to_dict(self) -> dict[str, Any]:
        models = [estimate_json(one) for network in self._networks for one in network.estimates]
        files = [str(path) for path in self._written]
        return {"file": self.file, "models": models, **collectives_json(self._collectives), "files": files}

    def print(self, console: Console) -> None:
        print_head(self._measurement, console)
        for network in self._networks:
            console.print()
            if len(network.estimates) > 1:
                print_comparison(network.estimates, console)
                console.print()
            print_estimate(network.estimates[0], console)
            print_pairs(network.pairs, console)
        console.print()
        print_collectives(self._collectives, console)
        print_lines(console, [f"Written: {', '.join(map(str, self._written))}"])
