"""Which files `analyze` writes, and which it never touches."""

import gzip
import json
import subprocess
import sys

import pytest
from grammar import check_dim, check_prv
from synthetic import WORLD, call, write_run

from analyzer.cli import main

PRV = """#Paraver (01/01/2026 at 00:00):100_ns:1(1):1:1(1:1),1
c:1:1:1:1
1:1:1:1:1:0:40:1
2:1:1:1:1:40:50000002:8:50100001:0:50100002:0:50100003:0:50100004:1
1:1:1:1:1:40:60:5
2:1:1:1:1:60:50000002:0
1:1:1:1:1:60:100:1
"""


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    ranks = [
        {"calls": [call("MPI_Send", 10, 20, comm=WORLD, peer=1, tag=1, sent=4)]},
        {"calls": [call("MPI_Recv", 10, 25, comm=WORLD, peer=0, tag=1, received=4)]},
    ]
    return write_run(folder, ranks)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_beside_the_run(run, capsys):
    before = contents(run.parent)
    assert main([str(run)]) == 0
    assert names(run.parent) == ["run.dim", "run.h5", "run.pcf", "run.prv", "run.ranks", "run.row"]
    assert check_prv(run.with_suffix(".prv")) == []
    assert check_dim(run.with_suffix(".dim")) == []
    first = contents(run.parent)
    assert all(first[path] == data for path, data in before.items())
    assert main([str(run)]) == 0, "derived files are replaced"
    assert contents(run.parent) == first


def test_the_folder_of_ranks_is_as_good(run, capsys):
    assert main([str(run)]) == 0
    prv, dim = run.with_suffix(".prv"), run.with_suffix(".dim")
    data = prv.read_bytes()
    prv.unlink()
    dim.unlink()
    assert main([str(run.with_suffix(".ranks"))]) == 0
    assert prv.read_bytes() == data


@pytest.mark.parametrize("output", ["other", "other.prv"])
def test_under_another_name(run, tmp_path, output, capsys):
    assert main([str(run), "-o", str(tmp_path / output)]) == 0
    assert names(tmp_path) == ["other.dim", "other.pcf", "other.prv", "other.row", "there"]
    assert names(run.parent) == ["run.h5", "run.ranks"]


def test_by_a_symbolic_link(run, tmp_path):
    """Output lies beside the link: the folder that it points to may belong to another user."""
    (tmp_path / "link.h5").symlink_to(run)
    assert main([str(tmp_path / "link.h5")]) == 0
    assert names(tmp_path) == ["link.dim", "link.h5", "link.pcf", "link.prv", "link.row", "there"]
    assert main(["check", str(tmp_path / "link.h5")]) == 0


def test_in_another_folder(run, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    assert main(["prv", str(run), "-o", str(tmp_path / "out")]) == 0
    assert names(tmp_path / "out") == ["run.pcf", "run.prv", "run.row"]
    assert main(["dim", str(run), "-o", str(tmp_path / "out" / "x.dim")]) == 0
    assert capsys.readouterr().out.splitlines()[-2].endswith("x.dim")


def test_info_check_and_efficiency_write_nothing(run, capsys):
    before = contents(run.parent)
    for command in ("info", "check", "efficiency"):
        assert main([command, str(run)]) == 0
    assert contents(run.parent) == before


def test_json_lists_the_files(run, capsys):
    assert main([str(run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [path.rsplit(".", 1)[1] for path in found["files"]] == ["prv", "pcf", "row", "dim"]


def test_quiet(run, capsys):
    for arguments in ([], ["look", "--no-files"], ["prv"], ["dim"], ["check"], ["efficiency"]):
        assert main([*arguments, str(run), "-q"]) == 0
    assert capsys.readouterr() == ("", "")


def imported(folder, packed):
    path = folder / ("run.prv.gz" if packed else "run.prv")
    path.write_bytes(gzip.compress(PRV.encode()) if packed else PRV.encode())
    (folder / "run.pcf").write_text("EVENT_TYPE\n9 40000001 Application\n")
    (folder / "run.row").write_text("LEVEL NODE SIZE 1\nhere\n")
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_of_a_paraver_trace_only_the_dim_is_new(tmp_path, packed, capsys):
    path = imported(tmp_path, packed)
    before = contents(tmp_path)
    assert main([str(path)]) == 0
    after = contents(tmp_path)
    assert after.keys() - before.keys() == {tmp_path / "run.dim"}
    assert all(after[p] == data for p, data in before.items())


def test_what_a_dim_cannot_say_is_said(tmp_path, capsys):
    """It names the calls without a record, and the ranks whose threads call MPI side by side; rank 0 is none."""
    put, threads = call("MPI_Put", 5, 6, comm=WORLD, peer=1, sent=8), [0, 1]
    calls = [call("MPI_Comm_rank", 10 + thread, 20 + thread, thread=thread) for thread in threads]
    path = write_run(tmp_path, [{"calls": [put]}, {"calls": calls}])
    assert main(["dim", str(path)]) == 0
    _, _, left_out, sequence = capsys.readouterr().out.splitlines()
    assert left_out == "run.dim leaves out what Dimemas has no record for: 1 MPI_Put"
    assert sequence.startswith("run.dim has the calls of all threads of rank 1 in one sequence")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("output", [[], ["-o", "run"], ["-o", "run.prv", "-f"], ["-o", "."]])
def test_what_was_read_is_never_written(tmp_path, packed, output, monkeypatch, capsys):
    path = imported(tmp_path, packed)
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    assert main(["prv", path.name, *output]) == 1
    assert "part of the trace that is read" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_a_link_to_the_file_read_is_that_file(tmp_path, capsys):
    path = imported(tmp_path, False)
    (tmp_path / "link.prv").symlink_to(path)
    assert main(["prv", str(path), "-o", str(tmp_path / "link")]) == 1
    assert path.read_text() == PRV


def test_a_file_of_another_kind_is_not_replaced_without_force(run, tmp_path, capsys):
    (tmp_path / "notes.dim").write_text("my notes")
    assert main(["dim", str(run), "-o", str(tmp_path / "notes.dim")]) == 1
    assert "exists and is not a .dim file" in capsys.readouterr().err
    assert (tmp_path / "notes.dim").read_text() == "my notes"
    assert main(["dim", str(run), "-o", str(tmp_path / "notes.dim"), "--force"]) == 0
    assert check_dim(tmp_path / "notes.dim") == []


def test_a_folder_that_is_not_there_costs_the_files_but_not_the_look(run, tmp_path, capsys):
    assert main([str(run), "-o", str(tmp_path / "absent" / "run")]) == 1
    out, err = capsys.readouterr()
    assert "Where the time went" in out
    assert "Written" not in out
    assert err.startswith("Error: cannot write") and err.count("\n") == 1


def test_nothing_half_written_remains(run, tmp_path, monkeypatch, capsys):
    import analyzer.writers.dim as records

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(records.RankWriter, "write", full)
    assert main(["dim", str(run)]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert names(run.parent) == ["run.h5", "run.ranks"]


_LIMITED = """
import resource, sys
from analyzer.cli import main
for limit in (100, 2000, 5000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    assert main(["ring", "--iterations", "300", "-q", "-o", sys.argv[1] + "/ring.h5"]) == 1
    assert main(["pack", sys.argv[2], "-q", "-o", sys.argv[1] + "/packed.h5"]) == 1
"""


def test_hdf5_on_a_full_disk_is_an_error_and_leaves_nothing(run, tmp_path):
    """The library itself crashes where it cannot write what it kept until a file is closed."""
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-c", _LIMITED, str(tmp_path / "out"), str(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 6 and all(
        line.startswith("Error: cannot write") and "File too large" in line for line in lines
    )
    assert names(tmp_path / "out") == []
