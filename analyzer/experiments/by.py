"""The kinds of time that a table can be of, by what `--by` names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from analyzer.experiments.clustered import by_cluster
from analyzer.experiments.kinds import by_call, by_place, by_region
from analyzer.parallel import Team
from analyzer.trace import Trace

if TYPE_CHECKING:
    import pandas

KINDS: dict[str, Callable[[Trace, Team], pandas.DataFrame]] = {
    "call": by_call,
    "region": by_region,
    "place": by_place,
    "cluster": by_cluster,
}
"""(trace, team) -> a row for each kind of time, with MEASURED."""
