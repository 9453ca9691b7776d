"""Commands rewritten for each launcher, and room for the result; launchers are scripts that only tell their name."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from patience import patient

from tracelib import cli, commands, launchers, run_command
from tracelib.errors import TracelibError
from tracelib.launchers import Launcher, detect, traced
from tracelib.run_command import execute

LIB = "/opt/libtrace.so"
OURS = {"TRACELIB_OUTPUT": "/tmp/run.h5"}
X_OURS = ["-x", f"LD_PRELOAD={LIB}", "-x", "TRACELIB_OUTPUT=/tmp/run.h5"]


def rewritten(command: str, launcher: Launcher, environment: dict[str, str] = OURS) -> list[str]:
    return traced(command.split(), launcher, LIB, environment)[0]


def test_open_mpi_is_told_in_every_context():
    assert rewritten("mpirun -n 4 ./app a", Launcher.OPEN_MPI) == ["mpirun", *X_OURS, *["-n", "4", "./app", "a"]]
    assert rewritten("mpirun -n 1 ./a : -n 2 ./b x", Launcher.OPEN_MPI) == [
        "mpirun", *X_OURS, "-n", "1", "./a", ":", *X_OURS, "-n", "2", "./b", "x"
    ]  # fmt: skip


def test_open_mpi_keeps_the_users_preload():
    words = rewritten("mpirun -n 2 -x LD_PRELOAD=libuser.so ./app", Launcher.OPEN_MPI)
    assert words[:3] == ["mpirun", "-x", f"LD_PRELOAD={LIB}:libuser.so"]
    assert words[-3:] == ["-n", "2", "./app"]
    words = rewritten("mpirun ./app", Launcher.OPEN_MPI, {"LD_PRELOAD": "libuser.so"})
    assert words == ["mpirun", "-x", f"LD_PRELOAD={LIB}:libuser.so", "./app"]


@pytest.mark.parametrize(
    "users,expected",
    [
        ("", LIB),
        ("tool.so libm.so", f"{LIB}:tool.so:libm.so"),
        (f"tool.so:{LIB}", f"{LIB}:tool.so"),
        ("tool.so:/usr/lib/libasan.so.8", f"/usr/lib/libasan.so.8:{LIB}:tool.so"),
        ("libclang_rt.asan-x86_64.so", f"libclang_rt.asan-x86_64.so:{LIB}"),
        ("libtsan.so", f"libtsan.so:{LIB}"),
        ("libinsane.so", f"{LIB}:libinsane.so"),
    ],
)
def test_the_library_stands_behind_sanitizers_only(users, expected):
    """Another tool for MPI that stood ahead may not pass its calls on."""
    assert launchers.with_library(users, LIB) == expected


def test_the_runtime_that_a_program_is_linked_with(tmp_path):
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    for sanitizer, runtime in (("address", "libasan"), ("thread", "libtsan"), ("undefined", "")):
        words = ["gcc", "a.c", "-o", sanitizer, f"-fsanitize={sanitizer}"]
        if subprocess.run(words, cwd=tmp_path, capture_output=True).returncode:
            pytest.skip(f"gcc has no sanitizer for {sanitizer}")
        *before, last = launchers.preloads([str(tmp_path / sanitizer)]).split(":")
        assert last == str(launchers.LIBRARY)
        assert len(before) == bool(runtime) and all(Path(path).name.startswith(runtime) for path in before)
        assert all(Path(path).is_absolute() and Path(path).exists() for path in before)
        (users,) = before or [""]  # the user has it there already
        assert launchers.with_library(users, ":".join([*before, LIB])) == ":".join([*before, LIB])


def test_the_launcher_itself_is_left_alone():
    for launcher in (Launcher.OPEN_MPI, Launcher.HYDRA, Launcher.SLURM):
        assert "LD_PRELOAD" not in traced(["mpirun", "./app"], launcher, LIB, OURS)[1]
        environment = OURS | {"LD_PRELOAD": "libuser.so"}
        assert traced(["mpirun", "./app"], launcher, LIB, environment)[1]["LD_PRELOAD"] == "libuser.so"


def test_hydra():
    ours = ["-genv", "TRACELIB_OUTPUT", "/tmp/run.h5"]
    assert rewritten("mpiexec -n 2 ./a : -n 1 ./b", Launcher.HYDRA) == [
        "mpiexec", "-genv", "LD_PRELOAD", LIB, *ours, *["-n", "2", "./a", ":", "-n", "1", "./b"]
    ]  # fmt: skip
    words = rewritten("mpiexec -genv LD_PRELOAD libuser.so -n 2 ./a", Launcher.HYDRA)
    assert words == ["mpiexec", *ours, "-genv", "LD_PRELOAD", f"{LIB}:libuser.so", "-n", "2", "./a"]
    words = rewritten("mpiexec -n 2 -env LD_PRELOAD libuser.so ./a : -n 1 ./b", Launcher.HYDRA)
    assert words[:4] == ["mpiexec", "-genv", "LD_PRELOAD", LIB]
    assert f"{LIB}:libuser.so" in words


@pytest.mark.parametrize(
    "given,expected",
    [
        ("srun -n 4 ./app", f"srun --export=ALL,TRACELIB_OUTPUT,LD_PRELOAD={LIB} -n 4 ./app"),
        ("srun --export=ALL,A=1 ./app", f"srun --export=ALL,A=1,TRACELIB_OUTPUT,LD_PRELOAD={LIB} ./app"),
        ("srun --export=NONE ./app", f"srun --export=TRACELIB_OUTPUT,LD_PRELOAD={LIB} ./app"),
        ("srun --export=LD_PRELOAD=u.so ./app", f"srun --export=TRACELIB_OUTPUT,LD_PRELOAD={LIB}:u.so ./app"),
    ],
)
def test_srun(given, expected):
    assert rewritten(given, Launcher.SLURM) == expected.split()


def test_anything_else_gets_it_in_the_environment():
    words, environment = traced(["./job.sh", "x"], Launcher.UNKNOWN, LIB, OURS | {"LD_PRELOAD": "libuser.so"})
    assert words == ["./job.sh", "x"]
    assert environment == OURS | {"LD_PRELOAD": f"{LIB}:libuser.so"}


@pytest.mark.parametrize(
    "name,says,kind",
    [
        ("mpirun", "mpirun (Open MPI) 5.0.11", Launcher.OPEN_MPI),
        ("mpiexec.openmpi", "mpiexec.openmpi (OpenRTE) 4.1.4", Launcher.OPEN_MPI),
        ("prterun", "prterun (PRRTE) 3.0.1", Launcher.OPEN_MPI),
        ("mpiexec", "HYDRA build details:\n    Version: 4.0.2", Launcher.HYDRA),
        ("mpirun", "Intel(R) MPI Library for Linux* OS, Version 2021.9", Launcher.HYDRA),
        ("srun", "slurm 23.02.6", Launcher.SLURM),
        ("mpirun", "something new 1.0", Launcher.UNKNOWN),
        ("job.sh", "mpirun (Open MPI) 5.0.11", Launcher.UNKNOWN),  # a script is not asked
    ],
)
def test_detection(tmp_path, name, says, kind):
    script = tmp_path / name
    script.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && cat <<'EOF'\n{says}\nEOF\n")
    script.chmod(0o755)
    assert detect(str(script)) is kind


def test_a_launcher_that_is_not_there_is_unknown():
    assert detect("/nowhere/mpirun") is Launcher.UNKNOWN


def test_output_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_command.output_path("a") == tmp_path / "a.h5"
    assert run_command.output_path("b.h5") == tmp_path / "b.h5"
    assert run_command.output_path("v1.2") == tmp_path / "v1.2.h5"
    with pytest.raises(TracelibError, match="no directory"):
        run_command.output_path("nowhere/a")


def old_result(folder: Path) -> Path:
    path = folder / "run.h5"
    path.write_bytes(b"old")
    (folder / "run.ranks").mkdir()
    for name in ("000000.h5", "system-node1.h5", ".system-node2.h5.tmp", "places.h5"):
        (folder / "run.ranks" / name).write_bytes(b"old")
    return path


def test_an_existing_result_is_refused_or_replaced(tmp_path):
    path = old_result(tmp_path)
    with pytest.raises(TracelibError, match=r"run\.h5 exists"):
        run_command.make_room(path, force=False)
    run_command.make_room(path, force=True)
    assert not list(tmp_path.iterdir())
    run_command.make_room(path, force=False)


def test_force_removes_nothing_but_a_result(tmp_path):
    path = old_result(tmp_path)
    (tmp_path / "run.ranks" / "thesis.tex").write_text("years of work")
    with pytest.raises(TracelibError, match=r"thesis\.tex"):
        run_command.make_room(path, force=True)
    assert (tmp_path / "run.ranks" / "000000.h5").exists()
    assert (tmp_path / "run.ranks" / "thesis.tex").read_text() == "years of work"
    assert path.exists()


@pytest.fixture
def library(tmp_path_factory, monkeypatch) -> Path:
    """A stand-in for libtrace.so: an empty shared object."""
    path = tmp_path_factory.mktemp("lib") / "libtrace.so"
    subprocess.run(["cc", "-shared", "-o", path, "-x", "c", "/dev/null"], check=True)
    monkeypatch.setattr(launchers, "LIBRARY", path)
    return path


def test_run_passes_everything_on(library, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    show = "import os, json, sys; print(json.dumps([dict(os.environ), sys.argv[1:]])); sys.exit(7)"
    command = [
        "run",
        "-o",
        "mine",
        "--buffer",
        "64K",
        "--system",
        "2s",
        "-q",
        "--",
        sys.executable,
        "-c",
        show,
        "-n",
        "4",
        "--force",
    ]
    assert CliRunner().invoke(commands.commands, command, standalone_mode=False).return_value == 7
    environment, arguments = json.loads(capfd.readouterr().out)
    assert arguments == ["-n", "4", "--force"]
    assert environment["LD_PRELOAD"].split(":")[-1] == str(library)
    assert environment["TRACELIB_OUTPUT"] == str(tmp_path / "mine.h5")
    assert environment["TRACELIB_BUFFER"] == "64K"
    assert environment["TRACELIB_QUIET"] == "1"
    assert (environment["TRACELIB_SYSTEM"], environment["TRACELIB_PYTHON"]) == ("2s", sys.executable)


def tracelib(*words: str, cwd: Path) -> subprocess.CompletedProcess:
    root = str(Path(cli.__file__).parent.parent)
    env = os.environ | {"PYTHONPATH": root}
    return subprocess.run(
        [sys.executable, "-m", "tracelib.cli", *words],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=patient(30),
    )


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "--no-such-option"],
        ["run", "-o", "nowhere/x", "true"],
        ["run", "--system", "often", "true"],
        ["nonsense"],
    ],
)
def test_mistakes_are_one_line(tmp_path, words):
    done = tracelib(*words, cwd=tmp_path)
    assert done.returncode != 0
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("tracelib: ")


def test_a_program_that_is_not_there(library, tmp_path):
    with pytest.raises(TracelibError, match="cannot start") as error:
        run_command.execute(["./app"], {})
    assert error.value.exit_code == 127


def test_exit_code_of_a_killed_program():
    assert run_command.execute(["sh", "-c", "kill -9 $$"], os.environ) == 128 + 9


def test_a_request_to_end_is_passed_on(tmp_path):
    """SIGTERM to tracelib reaches the program, whose answer becomes the exit code."""
    script = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    execute = f"run_command.execute(['sh', '-c', {script!r}], os.environ)"
    code = f"import os, sys; from tracelib import run_command; sys.exit({execute})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(cli.__file__).parent.parent)},
    )  # fmt: skip
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(patient(10)) == 5
    finally:
        process.kill()
        process.stdout.close()


def test_a_library_path_that_the_loader_cannot_take(tmp_path, monkeypatch):
    path = tmp_path / "my programs" / "libtrace.so"
    path.parent.mkdir()
    path.touch()
    monkeypatch.setattr(launchers, "LIBRARY", path)
    with pytest.raises(TracelibError, match="blanks and colons"):
        launchers.library()
    monkeypatch.setattr(launchers, "LIBRARY", tmp_path / "gone.so")
    with pytest.raises(TracelibError, match="missing"):
        launchers.library()


def test_lib_prints_the_path_alone(library):
    done = CliRunner().invoke(commands.commands, ["lib"])
    assert done.stdout == f"{library}\n"
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_standard_output_is_one_line(unbuffered):
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "tracelib.cli", "lib"]
        done = subprocess.run(
            words, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=patient(60)
        )
    assert (done.returncode, done.stderr) == (1, "tracelib: No space left on device\n")


def test_interrupted_while_modules_are_imported(monkeypatch, capsys):
    class Importing:
        def find_spec(self, name, *_):
            if name == "tracelib.commands":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "tracelib.commands")
    monkeypatch.setattr(sys, "meta_path", [Importing(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130 and capsys.readouterr().err == "interrupted\n"


def test_what_nohup_ignores_is_not_passed_on():
    """mpirun sets SIGHUP back, and would end; without nohup the request to end reaches it."""
    program = (
        "import os, signal, time; signal.signal(signal.SIGHUP, signal.SIG_DFL);"
        "os.kill(os.getppid(), signal.SIGHUP); time.sleep(1); os._exit(3)"
    )
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert execute([sys.executable, "-c", program], os.environ) == 3
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        assert execute([sys.executable, "-c", program], os.environ) == 128 + signal.SIGHUP
    finally:
        signal.signal(signal.SIGHUP, before)
