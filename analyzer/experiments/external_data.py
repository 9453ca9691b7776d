"""Columns for data measured beside a run: replies of Ganglia, and LoOgGP parameters of the network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

import numpy as np

from analyzer.errors import TracelibError
from analyzer.experiments.columns import EXECUTION, NODE, REGION
from analyzer.loggp.model import LoOgGP

if TYPE_CHECKING:
    import pandas

REPLY = "ganglia"
"""Parameter of a region that has the number of its reply, a file NAME.NUMBER.ganglia.xml (docs/drivers.md)."""


def network_columns(path: str, size_bytes: int) -> dict[str, float]:
    """Return the LoOgGP parameters L, o, O, g, G for messages of one size as columns.

    Source: Rodriguez 2011, section 3.2 (parameters as variables of other experiments).

    Args:
        path: File of a model that `analyze loggp` wrote.
        size_bytes: Size of the messages, which selects the model's interval.

    Returns:
        Values in s and s/byte by column name. NaN: the start of a line is not known.

    Raises:
        TracelibError: The file cannot be read, or is no model.
    """
    model = LoOgGP.read(path)
    above = [one for one in model.intervals if size_bytes <= one.to_bytes]
    interval = above[0] if above else model.intervals[-1]
    lines = {"o": interval.overhead, "g": interval.gap}
    found = {"net_L": model.latency_s}
    for name, line in lines.items():
        found |= {f"net_{name}": np.nan if line.start_s is None else line.start_s, f"net_{name.upper()}": line.slope}
    return found


def add_ganglia(frame: pandas.DataFrame, metrics: Sequence[str], folders: Iterable[Path]) -> pandas.DataFrame:
    """Add a column `ganglia_METRIC` for each metric: Ganglia's value for the row's node, NaN if there is none.

    The rank that asked Ganglia recorded the number of the reply. The reply holds for the same execution of the region
    on all ranks.

    Args:
        frame: Table of executions.
        metrics: Names of Ganglia's metrics.
        folders: Folders in which replies are searched.

    Raises:
        TracelibError: No region asked Ganglia, a reply is missing, or a metric is in no reply.
    """
    if REPLY not in frame.columns:
        raise TracelibError("no region asked Ganglia", "mark it with the driver Ganglia: docs/drivers.md")
    places = list(dict.fromkeys(folder.resolve() for folder in folders))
    numbers = frame.groupby([REGION, EXECUTION])[REPLY].transform("max")
    replies = {number: _reply(int(number), places) for number in numbers.dropna().unique()}
    for metric in metrics:
        values = [_value(replies.get(number), node, metric) for number, node in zip(numbers, frame[NODE], strict=True)]
        if replies and np.isnan(values).all():
            known = sorted({name for reply in replies.values() for host in reply.values() for name in host})
            raise TracelibError(f"Ganglia says no {metric} of these nodes", f"it knows {', '.join(known[:12])}, ...")
        frame[f"ganglia_{metric}"] = values
    return frame


Reply = dict[str, dict[str, float]]
"""Numeric metrics of one reply: values by metric, by host."""


def _value(reply: Reply | None, node: str, metric: str) -> float:
    """Return a node's value of a metric, NaN if there is none. Hosts match by full name or by its first part."""
    hosts = [of for name, of in (reply or {}).items() if name == node or name.split(".")[0] == node.split(".")[0]]
    return hosts[0].get(metric, np.nan) if hosts else np.nan


def _reply(number: int, places: Sequence[Path]) -> Reply:
    files = [path for place in places for path in place.glob(f"*.{number}.ganglia.xml")]
    if not files:
        raise TracelibError(f"there is no file *.{number}.ganglia.xml", "it was left where the program ran")
    return read_reply(files[0])


def read_reply(path: Path) -> Reply:
    """Read the numeric metrics of a reply from Ganglia's gmond.

    Raises:
        TracelibError: The file cannot be read, or is no reply of Ganglia.
    """
    found: Reply = {}
    host: list[str] = []

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if tag == "HOST":
            host[:] = [attributes.get("NAME", "")]
            found.setdefault(host[0], {})
        elif tag == "METRIC" and host:
            try:
                found[host[0]][attributes.get("NAME", "")] = float(attributes.get("VAL", ""))
            except ValueError:
                return

    def entity(*_: object) -> None:
        raise ValueError("it declares an entity, which is not read")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EntityDeclHandler = begin, entity
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise TracelibError(f"{path} is no reply of Ganglia: {error}") from error
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    return found
