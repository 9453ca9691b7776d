"""Traces without any MPI call, and traces of several applications: what commands say of them."""

import json

import pytest
from producers import PRODUCERS

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.trace import Regions

HEAD = "#Paraver (01/02/2020 at 10:00):1000000_ns:1(2):1:1(2:1),1\nc:1:1:1:1\n"
STATES = "1:1:1:1:1:0:400000:1\n1:2:1:1:2:0:400000:1\n"
FORK = "2:1:1:1:1:0:60000001:1\n2:1:1:1:1:300000:60000001:0\n1:1:1:1:1:400000:1000000:5\n1:2:1:1:2:400000:1000000:5\n"


@pytest.fixture
def written(tmp_path):
    def write(text):
        (tmp_path / "run.prv").write_text(text)
        return str(tmp_path / "run.prv")

    return write


def findings(path, capsys):
    assert main(["look", "--no-files", path, "--json"]) == 0
    return [(one["kind"], round(one["cost_s"] * 1e6)) for one in json.loads(capsys.readouterr().out)["findings"]]


def test_the_finding_names_what_is_not_in_the_trace(written, capsys):
    """It ends at 400 of 1000 us; with states up to the end the threads do something else, and there are no messages."""
    assert findings(written(HEAD + STATES), capsys) == [("not in the trace", 600)]
    assert findings(written(HEAD + STATES + FORK), capsys) == [("neither computing nor MPI", 600)]


def test_a_flush_is_computing_or_not(written, capsys):
    """As its state says: 12 (I/O), 1, or one of each for 100 and 300 us."""
    flush = "2:1:1:1:1:300000:40000003:1\n2:1:1:1:1:700000:40000003:0\n1:1:1:1:1:700000:1000000:1\n"
    for states, said, computing in (
        ("1:1:1:1:1:300000:700000:12\n", "It is not computing", 0.0),
        ("1:1:1:1:1:300000:700000:1\n", "This time counts as computing", 4e-4),
        ("1:1:1:1:1:300000:400000:1\n1:1:1:1:1:400000:700000:12\n", "100 us of it counts as computing", 1e-4),
    ):
        path = written(HEAD + "1:1:1:1:1:0:300000:1\n" + states + flush)
        assert main(["look", "--no-files", path]) == 0
        assert said in " ".join(capsys.readouterr().out.split())
        assert main(["look", "--no-files", path, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["flushes"]["computing_s"] == pytest.approx(computing)


def test_states_and_events_are_exported_as_regions(written, tmp_path, capsys):
    path = written(HEAD + STATES + FORK)
    for form in ("chrome", "perfetto", "parquet", "otf2"):
        assert main(["export", path, "--to", form]) == 0
        assert "its states and events are written as regions" in capsys.readouterr().err
    slices = [e for e in json.loads((tmp_path / "run.json").read_text())["traceEvents"] if e["ph"] in "BE"]
    open_, found = {}, []
    for one in slices:
        stack = open_.setdefault(one["tid"], [])
        if one["ph"] == "B":
            stack.append((one["name"], one["ts"]))
        else:
            found.append((one["tid"], *stack.pop(), one["ts"]))
    assert not any(open_.values())
    assert sorted(found) == [
        (1, "Running", 0.0, 300.0), (1, "Running", 300.0, 400.0), (1, "Synchronization", 400.0, 1000.0),
        (1, "type 60000001: 1", 0.0, 300.0), (2, "Running", 0.0, 400.0), (2, "Synchronization", 400.0, 1000.0),
    ]  # fmt: skip
    archive = open_trace(tmp_path / "run-otf2" / "traces.otf2")
    assert archive.duration_ns == 10**6
    assert set(archive.extra(Regions).names) == {"Running", "Synchronization", "type 60000001: 1"}
    archive.close()


def test_what_needs_calls_says_so(written, capsys):
    path = written(HEAD + STATES + FORK)
    for command, said in (
        (("fit", "--by", "call"), "the runs have no MPI calls"),
        (("pack",), "traces of Paraver are not packed"),
    ):
        assert main([*command, path]) == 1
        assert said in capsys.readouterr().err


def test_communicators_of_several_applications_have_ids_of_their_own(written, tmp_path):
    """Each application numbers its own from 1; MPI_Init is a barrier of an application, not of all."""
    lines = [f"2:0:{a}:{t}:1:0:50000003:31\n2:0:{a}:{t}:1:10:50000003:0\n" for a in (1, 2) for t in (1, 2)]
    lines += [f"1:0:{a}:{t}:1:10:900:1\n" for a in (1, 2) for t in (1, 2)]
    head = "#Paraver (01/02/2020 at 10:00):900_ns:0:2:2(1:1,1:1):2(1:1,1:1),2\nc:1:1:2:1:2\nc:2:1:2:1:2\n"
    path = written(head + "".join(lines))
    assert main(["dim", path, "-q"]) == 0
    text = (tmp_path / "run.dim").read_text().splitlines()
    ids = {line.split(":")[2]: line.split(":")[4:] for line in text if line.startswith("d:")}
    assert len(ids) == sum(line.startswith("d:") for line in text)
    inits = {line.split(":")[1]: ids[line.split(":")[4]] for line in text if line.startswith("10:")}
    assert inits == {"0": ["0", "1"], "1": ["0", "1"], "2": ["2", "3"], "3": ["2", "3"]}
    assert main(["replay", str(tmp_path / "run.dim")]) == 0


def test_counters_without_labels_are_known_to_all_commands(written, capsys):
    """2.5 instructions a cycle: PAPI's presets have Extrae's numbers."""
    events = "2:1:1:1:1:0:40000001:1\n2:1:1:1:1:400000:42000050:4000:42000059:1600\n"
    path = written(HEAD + "1:1:1:1:1:0:400000:1\n" + events + "1:1:1:1:1:400000:1000000:5\n")
    assert main(["efficiency", path]) == 0
    assert "2.50" in capsys.readouterr().out
    assert main(["clusters", path, "--counter", "PAPI_TOT_INS", "-f"]) == 0
    assert "PAPI_TOT_INS" in capsys.readouterr().out


def test_a_trace_of_few_bytes_has_no_million_threads(written, capsys):
    assert main(["look", "--no-files", written(PRODUCERS["cutter"].text.replace("1(1:1),1", "1(1000000:1),1"))]) == 1
    assert "1000000 threads in" in capsys.readouterr().err
