"""Bad input ends in one clear line on stderr and an exit code, never in a traceback."""

import gzip
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import h5py
import pytest
from analyzer._kernels import lib
from paths import ROOT
from patience import patient
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.commands import registry


def missing(folder):
    return folder / "nothing.h5", "no such file"


def empty(folder):
    (folder / "run.h5").write_bytes(b"")
    return folder / "run.h5", "is empty"


def text(folder):
    (folder / "run.h5").write_text("Dear diary")
    return folder / "run.h5", "is not a trace"


def binary(folder):
    (folder / "run.h5").write_bytes(bytes(range(256)) * 9)
    return folder / "run.h5", "is not a trace"


def foreign_hdf5(folder):
    with h5py.File(folder / "run.h5", "w") as file:
        file["weather"] = [1, 2, 3]
    return folder / "run.h5", "not a trace"


def truncated_hdf5(folder):
    path = write_run(folder, [{"calls": [call("MPI_Init", 0, 1)]}])
    path.write_bytes(path.read_bytes()[:600])
    return path, str(path)


def truncated_gzip(folder):
    packed = gzip.compress(b"#Paraver (01/01/2026 at 00:00):9_ns:1(1):1:1(1:1)\n" + bytes(range(256)) * 400)
    (folder / "run.prv.gz").write_bytes(packed[: len(packed) // 2])
    return folder / "run.prv.gz", "run.prv.gz"


def gzip_of_text(folder):
    (folder / "run.prv.gz").write_bytes(gzip.compress(b"Dear diary"))
    return folder / "run.prv.gz", "is not a trace"


def dimemas(folder):
    (folder / "run.dim").write_text('#DIMEMAS:"x":1,20:1(1),0\nhello\n')
    return folder / "run.dim", "run.dim, line 2: 'hello' is not a record"


def empty_folder(folder):
    (folder / "run.ranks").mkdir()
    return folder / "run.ranks", "without rank files"


def no_ranks_left(folder):
    path = write_run(folder, [{"calls": [call("MPI_Init", 0, 1)]}])
    shutil.rmtree(folder / "run.ranks")
    return path, str(path)


def bad_header(folder):
    (folder / "run.prv").write_text("#Paraver nonsense\n1:1:1:1:1:0:5:1\n")
    return folder / "run.prv", "run.prv"


CASES = [
    missing, empty, text, binary, foreign_hdf5, truncated_hdf5, truncated_gzip, gzip_of_text, dimemas, empty_folder,
    no_ranks_left, bad_header,
]  # fmt: skip


@pytest.mark.parametrize("command", [[], ["look", "--no-files"], ["check"], ["efficiency"], ["prv"], ["dim"]])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_one_line(case, command, tmp_path, capsys):
    path, says = case(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert main([*command, str(path)]) not in (0, None)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ") and err.count("\n") == 1, err
    assert says in err
    assert sorted(tmp_path.rglob("*")) == before


def test_an_absurd_number_of_threads_is_no_traceback(tmp_path, capsys):
    path = tmp_path / "run.prv"
    path.write_text("#Paraver (01/01/2020 at 00:00):100_ns:0:1:1(99999999:1)\n1:0:1:1:1:0:100:1\n")
    assert main(["look", "--no-files", str(path)]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("Error: ") and "a task with 99999999 threads" in said


def test_no_memory_is_no_traceback(tmp_path, capsys, monkeypatch):
    def none(*_, **__):
        raise MemoryError

    monkeypatch.setattr("analyzer.recording.run.trace.RunTrace.__init__", none)
    path = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 10, 20, comm=1)]}])
    assert main(["check", str(path)]) == 1
    assert capsys.readouterr().err.startswith("Error: not enough memory")


def test_a_mistyped_command_is_named(capsys):
    assert main(["eficiency", "run.h5"]) == 1
    assert "did you mean `analyze efficiency`?" in capsys.readouterr().err


MISTYPED = [
    (["run.h55"], "run.h55: no such file (did you mean run.h5?)"),
    (["look", "--no-files", "rnu.h5"], "rnu.h5: no such file (did you mean run.h5?)"),
    (["run"], "run: no such file (did you mean run.h5?)"),
    (["inof", "run.h5"], "inof: no such file or command (did you mean `analyze look --no-files`?)"),
    (["limit", "run.h5"], "limit: no such file or command (did you mean `analyze limits`?)"),
    (["frobnicate", "run.h5"], "frobnicate: no such command (`analyze --help` lists them)"),
    (["run.h5", "info"], "the command comes before the file: info (analyze look --no-files run.h5)"),
    (["look", "--no-files", "other.prv"], "other.prv: no such file (expected run.h5, a folder run.ranks, "),
    (["look", "--no-files", "nowhere/run.h5"], "nowhere/run.h5: no such file (there is no folder nowhere)"),
    (["lost.h5"], "lost.h5: no such file (rank 0 did not write it, but there is lost.ranks: analyze that)"),
    (["lost.h55"], "lost.h55: no such file (did you mean lost.ranks?)"),
    (["--qiet"], "No such option '--qiet'. Did you mean '--quiet'? (see `analyze --help`)"),
    (
        ["--hlp"],
        "No such option '--hlp'. (Did you mean one of: '--help', '--help-all', '--loop'?) (see `analyze --help`)",
    ),
]


@pytest.mark.parametrize("words, said", MISTYPED)
def test_what_is_mistyped_gets_a_hint_at_what_is_there(words, said, tmp_path, monkeypatch, capsys):
    (tmp_path / "run.h5").write_bytes(b"")
    (tmp_path / "lost.ranks").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(words) not in (0, None)
    assert f"Error: {said}" in capsys.readouterr().err


@pytest.mark.parametrize("absent", [lambda _: lib.not_there, lambda _: import_module("analyzer._kernels")])
def test_kernels_that_were_not_built_anew_are_one_line(absent, monkeypatch, capsys):
    """After `git pull` alone: they lack what the new Python asks for, or are not there at all."""
    monkeypatch.setattr(registry, "import_module", absent)
    monkeypatch.setitem(sys.modules, "analyzer._kernels", None)
    assert main(["look", "--no-files", "run.h5"]) == 1
    text = "the compiled part of analyze is missing, or older than the rest"
    assert capsys.readouterr().err == f"Error: {text} (run `make build`, or install tracelib again)\n"


def test_other_mistakes_of_ours_keep_their_traceback(monkeypatch):
    monkeypatch.setattr(registry, "import_module", lambda _: registry.not_there)
    with pytest.raises(AttributeError, match="not_there"):
        main(["look", "--no-files", "run.h5"])


def test_unknown_options_are_a_usage_error(capsys):
    assert main(["look", "--no-files", "--unheard-of", "run.h5"]) == 2
    assert capsys.readouterr().err == "Error: No such option '--unheard-of' (see `analyze --help`)\n"


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    path = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 1)]}])
    command = f"{sys.executable} -m analyzer.cli look --no-files {path} --json | true"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=patient(60))
    assert done.stderr == ""


def test_the_files_are_written_for_a_reader_that_goes_away(tmp_path):
    path = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 1), call("MPI_Finalize", 5, 6)]}])
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "analyzer.cli", str(path)]
    with os.fdopen(write) as pipe:
        done = subprocess.run(words, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=patient(60))
    assert (done.returncode, done.stderr) == (0, "")
    assert {"run.prv", "run.pcf", "run.row", "run.dim"} <= {file.name for file in tmp_path.iterdir()}


def test_as_a_program(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "analyzer.cli", "look", "--no-files", str(tmp_path / "x")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=patient(60),
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments, waits_for", [("--help", "numpy"), ("info", "pandas"), ("waits", "scipy")])
def test_nothing_is_imported_that_is_not_needed(arguments, waits_for, tmp_path):
    """Commands start in tenths of a second because of this."""
    path = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 1), call("MPI_Finalize", 5, 6)]}])
    words = [arguments] if arguments.startswith("-") else [arguments, path]
    program = f"import sys; from analyzer.cli import main; code = main({[str(w) for w in words]!r}); "
    program += f"sys.exit(code or {waits_for!r} in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.DEVNULL, timeout=patient(60)
        ).returncode
        == 0
    )


@pytest.mark.parametrize("command", ["prv", "dim", "pack", "replay", "replay prv"])
@pytest.mark.parametrize("folder", ["absent", "file"])
def test_an_output_that_cannot_be_made_is_one_line(command, folder, tmp_path, capsys):
    path = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 1), call("MPI_Finalize", 5, 6)]}])
    (tmp_path / "file").write_text("mine")
    command, ending = (*command.split(), "h5")[:2]
    assert main([command, str(path), "-o", str(tmp_path / folder / f"x.{ending}")]) == 1
    error = capsys.readouterr().err
    assert ".tmp" not in error
    reason = "No such file or directory" if folder == "absent" else "Not a directory"
    assert error.startswith("Error: cannot write ") and reason in error and error.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_standard_output_is_one_line(tmp_path, unbuffered):
    path = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 1), call("MPI_Finalize", 5, 6)]}])
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "analyzer.cli", "look", "--no-files", str(path)]
        done = subprocess.run(
            words, cwd=ROOT, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=patient(60)
        )
    assert (done.returncode, done.stderr) == (1, "Error: No space left on device\n")
