"""`analyze loggp` of a network measurement: a model for each kind of pair, printed and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.shared.outputs import check_replaceable, output_base
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.network_measurement.options import EstimateOptions

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    import numpy as np
    from rich.console import Console

    from analyzer.network_measurement.collectives import CollectiveComparison
    from analyzer.network_measurement.estimate import LinkEstimate, PairModel
    from analyzer.network_measurement.netfile import NetworkMeasurement

_ENDINGS = (".json", ".png")
_CLUSTERS = ".clusters.png"


@dataclass(frozen=True)
class MeasuredNetwork:
    """One kind of pair: its estimates, by the detectors asked for, and how its pairs differ."""

    where: str
    estimates: list[LinkEstimate]
    pairs: list[PairModel]


def model_network(
    session: Session, file: str, names: tuple[str, ...], pair: tuple[int, int] | None, options: EstimateOptions,
    output: str | None, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Run the whole command. It writes the model of the first detector."""
    from analyzer.network_measurement.collectives import read_compared
    from analyzer.network_measurement.netfile import read_measurement
    from analyzer.report.collectives import collectives_json
    from analyzer.report.network import estimate_json

    measurement = read_measurement(file)
    with session.step(f"Fitting {file}"):
        networks = [_network(measurement, where, names, pair, options) for where in _wheres(measurement, pair)]
    base = output_base(Path(file), output, _ENDINGS)
    endings = (*_ENDINGS, _CLUSTERS) if "thesis" in names else _ENDINGS
    written = [base.with_name(f"{base.name}.{network.where}{ending}") for network in networks for ending in endings]
    for path in written:
        check_replaceable(path, [Path(file)], force)
    with session.step("Drawing"):
        written = [path for network in networks for path in _write(network, base, options)]
    collectives = read_compared(file, networks[-1].estimates[0].model)  # between nodes, where there are several
    if as_json:
        models = [estimate_json(e) for network in networks for e in network.estimates]
        timed = collectives_json(collectives)
        session.print_json({"file": file, "models": models, **timed, "files": [str(path) for path in written]})
    elif not session.quiet:
        session.print(lambda console: _print(measurement, networks, collectives, written, console))


def _write(network: MeasuredNetwork, base: Path, options: EstimateOptions) -> list[Path]:
    """Write model and picture of the first detector, and the clusters of the thesis's detector. Return the files."""
    from analyzer.network_measurement.intervals import detectors
    from analyzer.report.network import PLACES
    from analyzer.report.pictures.network import draw_dendrogram, draw_network

    first = network.estimates[0]
    model, picture, clusters = (base.with_name(f"{base.name}.{network.where}{e}") for e in (*_ENDINGS, _CLUSTERS))
    first.model.write(model)
    draw_network(first, picture)
    for of in network.estimates:
        if of.detector == "thesis" and (found := detectors.clusters(of.curves, of.sample, options)):
            draw_dendrogram(
                found, f"Clusters of rows: {of.model.about['file']}, {PLACES[network.where].lower()}", clusters
            )
            return [model, picture, clusters]
    return [model, picture]


def _wheres(measurement: NetworkMeasurement, pair: tuple[int, int] | None) -> list[str]:
    """Return the kinds of pairs that the user wants."""
    places = measurement.places()
    if pair is None:
        return places
    found = [where for where in places if len(_rows(measurement, where, pair))]
    if not found:
        raise TracelibError(
            f"{measurement.path} has no rows of ranks {pair[0]} and {pair[1]}", "--json lists the pairs"
        )
    return found


def _rows(measurement: NetworkMeasurement, where: str, pair: tuple[int, int] | None) -> np.ndarray:
    import numpy as np

    rows = measurement.rows_of(where)
    return rows if pair is None else rows[np.isin(rows["pair"], measurement.pairs_of(*pair))]


def _network(
    measurement: NetworkMeasurement,
    where: str,
    names: tuple[str, ...],
    pair: tuple[int, int] | None,
    options: EstimateOptions,
) -> MeasuredNetwork:
    import numpy as np

    from analyzer.network_measurement.estimate import compared_pairs, estimates

    rows = _rows(measurement, where, pair)
    ranks = [list(measurement.ranks(int(number))) for number in np.unique(rows["pair"])]
    about = {"where": where, "pairs": ranks, "file": Path(measurement.path).name}
    about |= {name: measurement.attributes[name] for name in ("mpi", "date") if name in measurement.attributes}
    found = estimates(rows, names, options, about)
    return MeasuredNetwork(where, found, compared_pairs(found[0], measurement.ranks))


def _print(
    measurement: NetworkMeasurement, networks: list[MeasuredNetwork],
    collectives: Mapping[str, CollectiveComparison], written: list[Path],
    console: Console,
) -> None:  # fmt: skip
    from analyzer.report.collectives import print_collectives
    from analyzer.report.network import print_comparison, print_estimate, print_head, print_pairs

    print_head(measurement, console)
    for network in networks:
        console.print()
        if len(network.estimates) > 1:
            print_comparison(network.estimates, console)
            console.print()
        print_estimate(network.estimates[0], console)
        print_pairs(network.pairs, console)
    console.print()
    print_collectives(collectives, console)
    console.print(f"Written: {', '.join(map(str, written))}", soft_wrap=True, markup=False)
