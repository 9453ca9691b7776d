"""The thesis's options file (TIA, Fig. 3.8): a key and its values a line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tracelib.errors import TracelibError
from tracelib.schema.net import PairMode

_NUMBERS = {"N_PARAMETER": 1, "TIMES": 1, "SIZE_MAX": 1, "NUM_STEPS": 1, "STEP": 2, "NUM_PROC": 1, "MODE": 1,
            "SUBSIZE": 1, "SUBNODES": None}  # fmt: skip
"""How many numbers follow each key, None: any."""
_LEAST = {"N_PARAMETER": 2, "TIMES": 1, "SIZE_MAX": 1, "NUM_PROC": 2}
_PREFIX = "CLL_NGMPI_"


@dataclass
class MeasurementConfig:
    """Options from a file. None or empty: the file does not set them."""

    train: int | None = None
    times: int | None = None
    largest: int | None = None
    segments: list[tuple[int, int]] = field(default_factory=list)
    processes: int | None = None
    mode: PairMode | None = None
    ranks: list[int] = field(default_factory=list)


def read(path: Path) -> MeasurementConfig:
    """Return the file at `path`. Raises TracelibError, with the line, for what cannot be understood."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise TracelibError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> MeasurementConfig:
    """Return the text of a file called `name`."""
    values: dict[str, list[int]] = {}
    config = MeasurementConfig()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        key, numbers = _line(words, f"{name}, line {number}")
        if key == "STEP":
            config.segments.append((numbers[0], numbers[1]))
        elif key in values:
            raise TracelibError(f"{name}, line {number}: {words[0]} is given twice")
        else:
            values[key] = numbers
    _take(config, values, name)
    return config


def _line(words: list[str], where: str) -> tuple[str, list[int]]:
    """Parse key and numbers of a line."""
    key, numbers = words[0].removeprefix(_PREFIX), words[1:]
    if not words[0].startswith(_PREFIX) or key not in _NUMBERS:
        raise TracelibError(
            f"{where}: {words[0]} is not a known key", f"keys are {', '.join(_PREFIX + k for k in _NUMBERS)}"
        )
    wanted = _NUMBERS[key]
    if not all(number.isdecimal() for number in numbers) or len(numbers) != (wanted or max(1, len(numbers))):
        raise TracelibError(f"{where}: {words[0]} takes {wanted or 'some'} whole number{'s' * (wanted != 1)}")
    return key, [int(number) for number in numbers]


def _take(config: MeasurementConfig, values: dict[str, list[int]], name: str) -> None:
    """Take single numbers into `config`, and check whether they go together."""

    def one(key: str) -> int | None:
        return values[key][0] if key in values else None

    for key, least in _LEAST.items():
        if (number := one(key)) is not None and number < least:
            raise TracelibError(f"{name}: {_PREFIX}{key} is {number}, but must be at least {least}")
    config.train, config.times, config.largest = one("N_PARAMETER"), one("TIMES"), one("SIZE_MAX")
    config.processes, config.ranks = one("NUM_PROC"), values.get("SUBNODES", [])
    if (mode := one("MODE")) is not None:
        if mode not in set(PairMode):
            modes = ", ".join(f"{m.value} ({m.name.lower()})" for m in PairMode)
            raise TracelibError(f"{name}: {_PREFIX}MODE {mode} is not one of {modes}")
        config.mode = PairMode(mode)
    _compare(name, "NUM_STEPS", one("NUM_STEPS"), "STEP", len(config.segments))
    if config.mode is PairMode.SUBGROUP:
        _compare(name, "SUBSIZE", one("SUBSIZE"), "SUBNODES", len(config.ranks))


def _compare(name: str, key: str, said: int | None, other: str, there: int) -> None:
    if said not in (None, there):
        raise TracelibError(f"{name}: {_PREFIX}{key} is {said}, but there are {there} of {_PREFIX}{other}")
