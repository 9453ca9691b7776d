"""Dimemas's collective fine tuning file: how each collective grows, for all machines, for one, or between machines.

Source: the lines that Dimemas 5.5.0 reads (comm_configuration.c). Dimemas passes over all others without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.machine.description import COLLECTIVE_NAMES, CollectiveModel
from analyzer.machine.read_toml import collective_model

_EXPECTED = (
    "expected OPERATION MODEL SIZE MODEL SIZE CONTENTION, Machine globalop: MACHINE OPERATION MODEL SIZE MODEL SIZE, "
    "or External globalop: OPERATION MODEL SIZE MODEL SIZE"
)
_HEAD = re.compile(
    r"(machine\s+globalop|external\s+globalop|machine\s+policy|policy|quantum\s+size\s+\(bytes\)|flight\s+time)\s*:(.*)",
    re.IGNORECASE,
)
_EXTERNAL = -1
"""The network between machines, beside the numbers of machines."""
_NO_POLICY = "FIFO"


@dataclass(frozen=True)
class CollectiveLine:
    """One parsed line: `machine` is its number, -1 for the network between machines, None for all of them."""

    machine: int | None
    operation: str
    model: CollectiveModel
    where: str


def read_collectives(path: Path) -> list[CollectiveLine]:
    """Read the lines of a file, in their order. Raises TracelibError with the number of a line that is wrong, or says
    what is not simulated."""
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", "the machine file names it") from error
    except ValueError as error:  # a name with a byte 0
        raise TracelibError(f"cannot read {str(path)!r}: {error}", "the machine file names it") from error
    return list(_lines(text, str(path)))


def on_machines(lines: Sequence[CollectiveLine], defaults: Mapping[int, CollectiveModel]) -> dict[str, CollectiveModel]:
    """Find the model of each collective that lines name; a later line replaces an earlier one.

    Args:
        lines: Lines from `read_collectives`.
        defaults: Default model by the machine's number.

    Raises:
        TracelibError: A line names no machine; or an operation differs between machines, or between these and the
            network that connects them, which is not simulated.
    """
    places = [*defaults, _EXTERNAL] if len(defaults) > 1 else [*defaults]
    said: dict[str, dict[int, CollectiveModel]] = {}
    last: dict[str, str] = {}
    for line in lines:
        if line.machine not in (None, _EXTERNAL, *defaults):
            there = f"machines are {', '.join(map(str, defaults))}"
            raise TracelibError(f"{line.where}: there is no machine {line.machine}", there)
        for place in places if line.machine is None else [line.machine]:
            said.setdefault(line.operation, {})[place] = line.model
        last[line.operation] = line.where
    both = next(iter(defaults.values()))
    found = {}
    for operation, models in said.items():
        different = {models.get(place, defaults.get(place, both)) for place in places}
        if len(different) > 1:
            text = f"{last[operation]}: {operation} is not the same on all machines and between them"
            raise TracelibError(text, "a collective has one model here: write a line for each of them, or one for all")
        found[operation] = different.pop()
    return found


def _lines(text: str, path: str) -> Iterator[CollectiveLine]:
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}, line {number}"
        if not line.strip() or line.lstrip().startswith(("#", "/")):
            continue
        head = _HEAD.fullmatch(line.strip())
        kind = " ".join(head[1].lower().split()) if head else ""
        words = (head[2] if head else line).split()
        if kind == "machine globalop":
            yield CollectiveLine(_machine(words, where), *_operation(words[1:], 5, where), where)
        elif kind == "external globalop":
            yield CollectiveLine(_EXTERNAL, *_operation(words, 5, where), where)
        elif kind:
            _check_simulated(kind, words, where)
        else:
            yield CollectiveLine(None, *_operation(words, 6, where), where)


def _machine(words: Sequence[str], where: str) -> int:
    if not words or not re.fullmatch(r"\d{1,9}", words[0], re.ASCII):
        raise TracelibError(f"{where}: {' '.join(words[:1])!r} is no machine", "they are numbered from 0 on")
    return int(words[0])


def _operation(words: Sequence[str], length: int, where: str) -> tuple[str, CollectiveModel]:
    """Parse a line of `length` words: operation, model and size twice, and the contention, which Dimemas ignores."""
    number = words[0] if words else ""
    if not re.fullmatch(r"0*[0-9]{1,2}", number, re.ASCII) or int(number[-2:]) >= len(COLLECTIVE_NAMES):
        looks = bool(re.fullmatch(r"[+-]?\w+", number)) and len(words) >= 5
        hint = "operations are 0 Barrier to 15 Alltoallw" if looks else _EXPECTED
        raise TracelibError(f"{where}: operation {number[:40]} is not known", hint)
    model = collective_model(list(words[1:5]), f"{where}: operation {number}")
    if len(words) > length or (len(words) == 6 and not _is_number(words[5])):
        raise TracelibError(f"{where}: {' '.join(words[5:])[:40]!r} behind the operation's models", _EXPECTED)
    return COLLECTIVE_NAMES[int(number[-2:])], model


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _check_simulated(kind: str, words: Sequence[str], where: str) -> None:
    """Refuse policies of sending other than in order, and times of flight between machines, unless without effect."""
    if "policy" in kind and words[-1:] == [_NO_POLICY]:
        return
    if kind == "flight time" and len(words) > 1 and all(_is_number(word) and not float(word) for word in words[1:]):
        return
    known = {"machine policy": "policies of sending", "policy": "policies of sending", "flight time": "times of flight"}
    raise TracelibError(f"{where}: {known.get(kind, 'quanta of sending')} are not simulated", "leave the line out")
