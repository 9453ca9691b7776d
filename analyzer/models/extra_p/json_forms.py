"""Extra-P's JSON: one object for a file (two forms), or one for each measurement (JSON lines, and Talpas)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.errors import TracelibError
from analyzer.models.extra_p.collected import METRIC, MeasurementFile

_OUTSIDE_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"|;')


def is_json(text: str) -> bool:
    """Check whether a text begins as a JSON object does."""
    return text.lstrip("\ufeff \t\r\n").startswith("{")


def read_json(text: str, path: str) -> MeasurementFile:
    """Read the measurements in a text of one of the JSON forms. `path`: name of the file, for errors.

    Raises:
        TracelibError: The text is not valid. The message has the place, and what was expected.
    """
    collected = MeasurementFile(path)
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    try:
        if isinstance(whole, dict) and "measurements" in whole:
            (_numbered if "callpaths" in whole else _nested)(whole, collected)
        else:
            _lines(text, collected)
    except RecursionError as error:
        raise TracelibError(f"{path}: it is nested too deeply", _EXPECTED) from error
    return collected


_EXPECTED = 'expected {"params": {"x": 1}, "metric": "time", "value": 2} on each line, or one object for all'


def _lines(text: str, collected: MeasurementFile) -> None:
    """Read one measurement from each line. Talpas has another key for parameters, and semicolons as separators."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{collected.path}, line {number}"
        try:
            said = json.loads(_OUTSIDE_TEXTS.sub(lambda one: "," if one[0] == ";" else one[0], line))
        except ValueError as error:
            raise TracelibError(f"{where}: no JSON: {error}", _EXPECTED) from error
        one = _object(said, where)
        point = _object(one["params"] if "params" in one else _get(one, "parameters", where), where)
        if not collected.parameters:
            collected.parameters = list(point)
        if set(point) != set(collected.parameters):
            raise TracelibError(
                f"{where}: parameters {', '.join(point)}", f"expected {', '.join(collected.parameters)}"
            )
        at = [_number(point[name], where) for name in collected.parameters]
        region, metric = _text(one.get("callpath", ""), where), _text(one.get("metric", METRIC), where)
        collected.add(region, metric, at, _numbers(_get(one, "value", where), where), where)


def _nested(whole: Mapping[str, Any], collected: MeasurementFile) -> None:
    """Read {"parameters": [...], "measurements": {callpath: {metric: [{"point": [...], "values": [...]}]}}}."""
    path = collected.path
    collected.parameters = [_text(name, path) for name in _list(_get(whole, "parameters", path), path)]
    for region, metrics in _object(whole["measurements"], path).items():
        for metric, measured in _object(metrics, f"{path}, {region}").items():
            where = f"{path}, {region}, {metric}"
            for one in _list(measured, where):
                point = _numbers(_get(_object(one, where), "point", where), where)
                collected.add(region, metric, point, _numbers(_get(one, "values", where), where), where)


def _numbered(whole: Mapping[str, Any], collected: MeasurementFile) -> None:
    """Read the older form: measurements refer to parameters, callpaths, metrics and coordinates by ids."""
    path = collected.path
    parameters = _by_id(whole, "parameters", path)
    collected.parameters = [_text(_get(one, "name", path), path) for one in parameters.values()]
    regions, metrics, points = (_by_id(whole, name, path) for name in ("callpaths", "metrics", "coordinates"))
    for one in _list(whole["measurements"], path):
        place = f"{path}, measurement {_object(one, path).get('id', '')}".rstrip()
        region, metric, point = (
            _one_of(among, _get(one, name, place), name, place)
            for among, name in ((regions, "callpath_id"), (metrics, "metric_id"), (points, "coordinate_id"))
        )
        pairs = [_object(pair, place) for pair in _list(_get(point, "parameter_value_pairs", place), place)]
        values = {_key(_get(pair, "parameter_id", place)): _get(pair, "parameter_value", place) for pair in pairs}
        at = [_number(_one_of(values, number, "parameter_id", place), place) for number in parameters]
        names = [_text(_get(named, "name", place), place) for named in (region, metric)]
        collected.add(names[0], names[1], at, [_number(_get(one, "value", place), place)], place)


def _by_id(whole: Mapping[str, Any], name: str, where: str) -> dict[str, Mapping[str, Any]]:
    """Return the objects of a list by id, in the order of the ids."""
    found = {
        _number(_get(_object(one, where), "id", where), where): one for one in _list(_get(whole, name, where), where)
    }
    return {_key(number): found[number] for number in sorted(found)}


def _one_of(among: Mapping[str, Any], number: Any, name: str, where: str) -> Any:
    if _key(number) not in among:
        raise TracelibError(f"{where}: {name} {number!r}"[:200], "there is nothing with this id")
    return among[_key(number)]


def _key(number: Any) -> str:
    """Return an id as text. In the file it is a number or a text."""
    return f"{float(number):g}" if isinstance(number, int | float) else str(number)


def _get(one: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in one:
        raise TracelibError(f"{where}: it has no {name!r}", _EXPECTED)
    return one[name]


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TracelibError(f"{where}: {str(value)[:40]!r} is no object", _EXPECTED)
    return value


def _list(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise TracelibError(f"{where}: {str(value)[:40]!r} is no list", _EXPECTED)
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise TracelibError(f"{where}: {str(value)[:40]!r} is no name", _EXPECTED)
    return value


def _number(value: Any, where: str) -> float:
    """Return a number. The older form may have it as a text. Raises TracelibError."""
    try:
        if isinstance(value, bool | None | list | dict) or "_" in str(value):
            raise ValueError
        return float(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise TracelibError(f"{where}: {str(value)[:40]!r} is no number", "expected a number") from error


def _numbers(value: Any, where: str) -> list[float]:
    return [_number(one, where) for one in (value if isinstance(value, list) else [value])]
