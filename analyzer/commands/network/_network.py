"""`analyze loggp` of a network measurement: a model for each kind of pair, printed and written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.network_measurement.options import EstimateOptions
from analyzer.results.output_files import check_replaceable, output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    import numpy as np

    from analyzer.network_measurement.netfile import NetworkMeasurement
    from analyzer.results.network import MeasuredNetwork, NetworkResult

_ENDINGS = (".json", ".png")
_CLUSTERS = ".clusters.png"


def model_network(
    session: Session, file: str, names: tuple[str, ...], pair: tuple[int, int] | None, options: EstimateOptions,
    output: str | None, force: bool,
) -> NetworkResult:  # fmt: skip
    """Fit models of a network, and write the model of the first detector. One process does it.

    Args:
        session: The command's.
        file: The measurement.
        names: Detectors.
        pair: Two ranks; None: all pairs.
        options: Options of the detectors.
        output: Name of the files written. None: beside the measurement.
        force: Whether existing files are replaced.

    Raises:
        TracelibError: The measurement is damaged, or has no such pair.
    """
    from analyzer.network_measurement.collectives import read_compared
    from analyzer.network_measurement.netfile import read_measurement
    from analyzer.results.network import NetworkResult

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
    return NetworkResult(file, measurement, networks, collectives, written)


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
    from analyzer.results.network import MeasuredNetwork

    rows = _rows(measurement, where, pair)
    ranks = [list(measurement.ranks(int(number))) for number in np.unique(rows["pair"])]
    about = {"where": where, "pairs": ranks, "file": Path(measurement.path).name}
    about |= {name: measurement.attributes[name] for name in ("mpi", "date") if name in measurement.attributes}
    found = estimates(rows, names, options, about)
    return MeasuredNetwork(where, found, compared_pairs(found[0], measurement.ranks))
