"""How long the computation in a region of the program lasts, as something that is varied beside the machine."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.errors import TracelibError
from analyzer.machine.parameters import Parameter, parameter
from analyzer.what_if.blocks import Blocks

PREFIX = "region:"
_MOST_NAMES = 8


def named(name: str) -> Parameter:
    """The parameter of the machine, or of the region of a "region:NAME": 1 is as traced. Raises TracelibError."""
    if not name.startswith(PREFIX):
        return parameter(name)
    return Parameter(name, "", "", lambda _: 1.0, lambda machine, _: machine, positive=True)


def region_of(of: Parameter) -> str | None:
    """The region that it is of; None: of the machine."""
    return of.name.removeprefix(PREFIX) if of.name.startswith(PREFIX) else None


def check_regions(wanted: Iterable[Parameter], names: tuple[str, ...], path: str) -> bool:
    """Whether regions are wanted. Raises TracelibError for those that the trace does not have."""
    regions = [region for of in wanted if (region := region_of(of)) is not None]
    for region in regions:
        if region not in names:
            shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
            hint = f"it has {shown}" if names else "name them in the program: docs/regions.md"
            raise TracelibError(f"{path} has no region {region!r}", hint)
    return bool(regions)


def scales(values: dict[Parameter, float], blocks: Blocks) -> dict[int, float]:
    """Those of regions, by their part of the program."""
    return {blocks.part(region): v for of, v in values.items() if (region := region_of(of)) is not None}
