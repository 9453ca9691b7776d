"""Output of commands with --json fits docs/schema/NAME.json, whose names change only with its version."""

import json

import jsonschema
import pytest
from click.testing import CliRunner
from json_schemas import FOLDER, NAMES, draft, names_of, schema_of, stored_names, strict

from analyzer.cli import main
from analyzer.commands.registry import find, places
from benchmarks.synthetic.run import write_run

WITH_JSON = [name for name in places() if find(name).spec.json]
LINES = {
    "look": ("--no-files",), "check": (), "what": ("--at", "1ms"), "view": (),
    "views": ("--view", "parallelism", "--view", "mpi call"), "efficiency": (), "hot": (), "structure": (), "waits": (),
    "critical-path": (), "limits": ("--quick",), "representative": (), "profile": (), "replay": ("--latency", "5us"),
    "what-if": ("--top", "3"), "sensitivity": ("--factor", "latency=1us..5us", "--machine", "ideal"), "loggp": (),
    "balance": (), "clusters": ("-o", "clusters"), "pack": ("-o", "packed.h5"), "table": ("--by", "call"),
    "cut": ("--from", "0", "--to", "0.001", "-o", "cut.h5"),
    "diff": ("OTHER",), "speedup": ("OTHER",), "predict": ("OTHER", "--ranks", "64"),
    "validate": ("--machine", "ideal", "--against", "RUN"),
    "monte-carlo": ("--vary", "latency=1us..2us", "-n", "4", "--jobs", "1"),
}  # fmt: skip
"""Options of commands of a run; OTHER is a run of more ranks."""
OF_RUNS = [*LINES, *(name for name in WITH_JSON if name not in LINES and find(name).spec.opens)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schemas")
    patterns = ("halo", "workers", "irregular")
    return {name: [str(write_run(folder / f"{name}{n}", name, n, 40).path) for n in (4, 6)] for name in patterns}


def rows(data):
    return data if isinstance(data, list) else [data]


@pytest.mark.parametrize("pattern", ["halo", "workers", "irregular"])
@pytest.mark.parametrize("command", OF_RUNS)
def test_the_json_fits_its_schema(command, pattern, runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run, other = runs[pattern]
    words = [{"OTHER": other, "RUN": run}.get(word, word) for word in LINES.get(command, ())]
    code = main([command, run, *words, "--json"])
    out, err = capsys.readouterr()
    if not out:
        assert code and "Error: " in err  # the pattern has nothing of the kind
        return
    for row in rows(json.loads(out)):
        assert (row["schema"], row["version"]) == (command, find(command).spec.json)
        jsonschema.validate(row, strict(schema_of(command)))


def test_the_ring_and_a_machine_fit_their_schemas(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for command, words in (("ring", ("-o", "ring.dim")), ("machine", ("ideal",))):
        assert main([command, *words, "--json"]) in (0, None)
        jsonschema.validate(json.loads(capsys.readouterr().out), schema_of(command))


def test_each_command_with_json_has_a_schema():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(WITH_JSON)
    for name in WITH_JSON:
        jsonschema.Draft202012Validator.check_schema(schema_of(name))


def test_names_change_only_with_the_version():
    """If this fails: raise `json` of the command, and run python tests/support/json_schemas.py --names."""
    now = stored_names()
    for command, stored in json.loads(NAMES.read_text()).items():
        assert now[command] == stored, command
    assert {name: entry["version"] for name, entry in now.items()} == {name: find(name).spec.json for name in WITH_JSON}


def test_a_draft_knows_what_examples_have():
    examples = [{"file": "a", "calls": {"MPI_Send": {"count": 1}}, "s": None}, {"file": "b", "calls": {}, "s": 1.5}]
    schema = strict(draft("made-up", 2, examples))
    assert sorted(names_of(schema)) == ["calls", "calls.*.count", "file", "s", "schema", "version"]
    for one in examples:
        jsonschema.validate({"schema": "made-up", "version": 2} | one, schema)
    for wrong in ({"file": 1}, {"more": 1}, {"s": "text"}, {"version": 3}, {"calls": {"MPI_Send": {"more": 1}}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"schema": "made-up", "version": 2} | examples[0] | wrong, schema)


def test_every_runner_sees_the_schema_and_the_version(runs):
    """The first two names of the JSON, also where a command is run by other means."""
    from analyzer.commands.shared.session import Session
    from analyzer.parallel import Team

    ran = CliRunner().invoke(find("waits"), [runs["halo"][0], "--json"], obj=Session(Team()))
    assert list(json.loads(ran.output))[:2] == ["schema", "version"]
