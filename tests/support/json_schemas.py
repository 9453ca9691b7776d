"""Schemas of what commands print with --json: docs/schema/NAME.json, drafted from examples.

python tests/support/json_schemas.py NAME EXAMPLE.json...    prints a draft
python tests/support/json_schemas.py --names                 stores the names of all schemas
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "schema"
NAMES = ROOT / "tests" / "data" / "json_names.json"
"""The names of all schemas: {command: {"version": N, "names": [...]}}."""

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")


def schema_of(command: str) -> dict[str, Any]:
    """Return the schema of a command's JSON."""
    return json.loads((FOLDER / f"{command}.json").read_text())


def names_of(schema: Any, before: str = "") -> Iterator[str]:
    """Yield the names that a schema knows, those inside others joined by dots; `*` stands for names of the run."""
    for name, of in schema.get("properties", {}).items():
        yield f"{before}{name}"
        yield from names_of(of, f"{before}{name}.")
    if isinstance(more := schema.get("additionalProperties"), dict):
        yield from names_of(more, f"{before}*.")
    if isinstance(items := schema.get("items"), dict):
        yield from names_of(items, before)


def strict(schema: Any) -> Any:
    """Return a schema that refuses names that it does not know."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(of) for name, of in schema.items()}
    known = made.get("properties")
    is_object = isinstance(known, dict) and "object" in made.get("type", ())
    return made | {"additionalProperties": False} if is_object and "additionalProperties" not in made else made


def stored_names() -> dict[str, dict[str, Any]]:
    """Return the names of all schemas as the file of names has them."""
    every = {path.stem: schema_of(path.stem) for path in sorted(FOLDER.glob("*.json"))}
    return {
        command: {"version": _version(schema), "names": sorted(set(names_of(schema)))}
        for command, schema in every.items()
    }


def _version(schema: dict[str, Any]) -> int:
    return schema["properties"]["version"]["const"]


def draft(command: str, version: int, examples: Sequence[Any]) -> dict[str, Any]:
    """Return a schema that examples of a command's JSON fit. Look through it: it knows only what they have."""
    rows = [row for one in examples for row in (one if isinstance(one, list) else [one])]
    found = _of_objects([{"schema": command, "version": version} | row for row in rows], top=True)
    found["properties"] |= {"schema": {"const": command}, "version": {"const": version}}
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"analyze {command} --json",
        "description": "Times in s, sizes in bytes. Of several files it may be an array of such objects.",
    }
    return head | found


def _of(values: Sequence[Any]) -> dict[str, Any]:
    """Return a schema that values fit."""
    kinds = {_kind(value) for value in values}
    found: dict[str, Any] = {}
    if "object" in kinds:
        found |= _of_objects([value for value in values if isinstance(value, dict)])
    if "array" in kinds and (items := [item for value in values if isinstance(value, list) for item in value]):
        found["items"] = _of(items)
    if kinds - {"null"}:
        found["type"] = sorted(kinds | {"null"})  # what is not known is null
    return found


def _of_objects(values: Sequence[dict[str, Any]], *, top: bool = False) -> dict[str, Any]:
    names = list(dict.fromkeys(name for value in values for name in value))
    common = [name for name in names if all(name in value for value in values)]
    if not top and _are_of_the_run(names, common, values):
        inner = [item for value in values for item in value.values()]
        return {"type": "object", "additionalProperties": _of(inner)}
    properties = {name: _of([value[name] for value in values if name in value]) for name in names}
    return {"type": "object", "properties": properties} | ({"required": common} if top else {})


def _are_of_the_run(names: Sequence[str], common: Sequence[str], values: Sequence[dict[str, Any]]) -> bool:
    """Whether names are of procedures, regions, ranks and the like, and not of the command."""
    if not names or not all(_IDENTIFIER.fullmatch(name) for name in names):
        return True
    shapes = {_shape(item) for value in values for item in value.values()}
    return not common and len(values) > 1 and len(shapes) == 1


def _shape(value: Any) -> Any:
    return tuple(value) if isinstance(value, dict) else _kind(value)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return kinds[type(value)]


def main(words: Sequence[str]) -> None:
    """Print a draft, or store the names of all schemas."""
    if words[0] == "--names":
        NAMES.write_text(json.dumps(stored_names(), indent=1) + "\n")
        return
    from analyzer.commands.registry import find

    made = find(words[0])
    assert made, words[0]
    examples = [json.loads(Path(path).read_text()) for path in words[1:]]
    print(json.dumps(draft(words[0], made.spec.json, examples), indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
