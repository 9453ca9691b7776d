"""Studies of any program: what is drawn, run, read and kept; what becomes of shots that fail, hang or are killed."""

import csv
import os
import re
import signal
import subprocess

import numpy as np
import pytest
from patience import patient
from scipy import stats
from study_folder import LINE, folder_of_study, study, until  # noqa: F401, a fixture

from analyzer.montecarlo.distribution import points
from analyzer.shots.shell import ENDED, JOB, SCRIPT, shot_script


def test_outputs_are_those_of_the_solver(folder):
    """y = 2 x + 3 for every shot, its statistics by numpy and scipy; x as the design draws it."""
    folder.write("s.toml", study(f"{LINE}\necho twice {{{{x:.3f}}}} > twice.txt", samples=30))
    found, _ = folder.run()
    x = points("random", 30, 1, 3)[:, 0]
    with (folder.path / "s.study" / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["x"]) for row in rows] == x.tolist()
    y = np.array([float(row["y"]) for row in rows])
    assert y == pytest.approx(2 * x + 3, rel=1e-14)
    (of,) = found["outputs"]
    assert of["mean"] == pytest.approx(y.mean())
    assert of["deviation"] == pytest.approx(y.std(ddof=1))
    assert of["mean_within"] == pytest.approx(stats.t.ppf(0.975, 29) * y.std(ddof=1) / 30**0.5)
    assert of["correlation"] == {"x": pytest.approx(1)}
    assert of["quantiles"]["0.25"] == pytest.approx(np.quantile(y, 0.25))
    assert found["good"] == found["shots"] == 30 and found["without_result"] == []
    assert (folder.path / "s.study" / "shot-0007" / "twice.txt").read_text() == f"twice {x[6]:.3f}\n"
    assert (folder.path / "s.study" / "results.png").read_bytes().startswith(b"\x89PNG")


def test_templates_inputs_and_kept_files(folder):
    """A template is filled and keeps its mode, an input is as it was, only kept files stay, an edit is another job."""
    folder.write("in.dat", "x = {{x}}\n{ not a placeholder }\n", 0o600)
    solver = '#!/bin/sh\nread -r _ _ x <in.dat\necho "1,$x" | tee table.csv >big\ncat big > out\n'
    folder.write("solver", solver, 0o755)
    job = 'templates = ["in.dat"]\ninputs = ["solver"]\nkeep = ["out"]'
    folder.write("s.toml", study("./solver", outputs="[outputs.y]\nfile = 'table.csv'\ncolumn = 2", job=job))
    found, _ = folder.run()
    shot = folder.path / "s.study" / "shot-0001"
    x = points("random", 12, 1, 3)[:, 0]
    assert (shot / "in.dat").read_text() == f"x = {float(x[0])!r}\n{{ not a placeholder }}\n"
    assert (shot / "in.dat").stat().st_mode & 0o777 == 0o600
    assert found["outputs"][0]["mean"] == pytest.approx(x.mean())
    assert not (shot / "big").exists() and not (shot / "solver").exists()
    assert (shot / "out").exists() and (shot / "table.csv").exists()
    (folder.path / "solver").write_text("#!/bin/sh\nexit 3\n")
    _, said = folder.run(code=1)
    assert "another job" in said and said.count("\n") == 1


def test_failed_and_hanging_shots_are_counted_and_named(folder):
    """Shot 2 fails, 3 hangs with a child that ignores TERM, 4 gives nan, 5 writes nothing; the others count."""
    command = f"""case {{{{shot}}}} in
    2) echo singular matrix >&2; exit 7;;
    3) trap '' TERM; sh -c 'trap "" TERM; sleep 600; sleep 600' & sleep 600; sleep 600;;
    4) echo 'Y = nan';;
    5) echo nothing;;
    *) {LINE};;
    esac"""
    folder.write("s.toml", study(command, job="timeout = '2s'", samples=8))
    found, _ = folder.run()
    assert found["shots"] == 8 and found["good"] == 4
    without = {of["shots"][0]: (of["kind"], of["error"]) for of in found["without_result"]}
    assert without == {
        2: ("failed", "exit status 7: singular matrix"),
        3: ("hung", "longer than 2 s"),
        4: ("failed", "y: stdout has 'nan', which is not a finite number"),
        5: ("failed", "y: no match of Y = (\\S+) in stdout"),
    }
    folder.none_left()
    text = subprocess.check_output(folder.words(), cwd=folder.path, env=folder.environment, text=True)
    assert "s.toml: 8 shots of command; 4 gave results" in text
    assert "1 shot hung (3): longer than 2 s" in text


def test_retry_runs_only_shots_without_result_again(folder):
    fails = f"test -e {folder.path}/ok || test {{{{shot}}}} -ne 4 || exit 1"
    folder.write("s.toml", study(f"echo {{{{shot}}}} >> {folder.path}/log\n{fails}\n{LINE}"))
    assert folder.run()[0]["good"] == 11
    folder.write("ok", "")
    assert folder.run()[0]["good"] == 11
    assert folder.run("--retry")[0]["good"] == 12
    assert sorted(folder.lines("log"), key=int) == sorted([*map(str, range(1, 13)), "4"], key=int)


def test_all_that_fails_is_an_error_in_one_line(folder):
    folder.write("s.toml", study("echo {{x}}; no-such-solver"))
    _, said = folder.run(code=1)
    assert re.fullmatch(r"Error: none of 12 shots gave a result; shot 1: exit status 127: .*no-such-solver.*\n", said)


def test_another_way_to_read_outputs_runs_nothing_again(folder):
    command = f"echo {{{{shot}}}} >> {folder.path}/log\n{LINE}\necho Z = 5"
    folder.write("s.toml", study(command))
    folder.run()
    outputs = "[outputs.y]\npattern = 'Y = (\\S+)'\n[outputs.z]\npattern = 'Z = (\\S+)'"
    folder.write("s.toml", study(command, outputs=outputs))
    found, _ = folder.run()
    assert [of["name"] for of in found["outputs"]] == ["y", "z"] and found["outputs"][1]["mean"] == 5
    assert len(folder.lines("log")) == 12


def test_more_samples_go_on_and_another_question_is_refused(folder):
    folder.write("s.toml", study(f"echo {{{{shot}}}} >> {folder.path}/log\n{LINE}"))
    folder.run("-n", 5)
    assert folder.run("-n", 9)[0]["shots"] == 9
    assert sorted(map(int, folder.lines("log"))) == list(range(1, 10))
    _, said = folder.run("--seed", 4, code=1)
    assert "seed was 3, not 4" in said
    assert folder.run("--seed", 4, "--force")[0]["seed"] == 4


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ended_in_the_middle_nothing_is_lost_run_twice_or_left(folder, number):
    """Every shot ends exactly once, whatever ends the study; and its processes end with it."""
    command = f"sleep 0.3\n{LINE}\necho {{{{shot}}}} >> {folder.path}/ends\nsleep 0.1"
    folder.write("s.toml", study(command, samples=14, hosts="[hosts.here]\nslots = 3"))
    going = folder.start()
    until(lambda: len(folder.lines("ends")) >= 4)
    os.killpg(going.pid, number) if number == signal.SIGINT else going.send_signal(number)
    _, said = going.communicate()
    assert going.returncode == (-number if number == signal.SIGKILL else 128 + number), said
    if number != signal.SIGKILL:
        assert "the same command goes on from s.study" in said and "Traceback" not in said
    folder.none_left()
    known = {row["shot"] for row in folder.records()}
    assert 1 <= len(known) < 14
    before = [(row["shot"], row["outputs"]) for row in folder.records()]
    found, _ = folder.run()
    assert found["good"] == 14
    rows = folder.records()
    assert sorted(row["shot"] for row in rows) == list(range(1, 15))
    assert [(row["shot"], row["outputs"]) for row in rows[: len(before)]] == before
    for row in rows:
        assert row["outputs"]["y"] == pytest.approx(2 * row["values"]["x"] + 3)
    twice = [shot for shot in known if folder.lines("ends").count(str(shot)) != 1]
    assert not twice


def test_what_ended_while_the_study_was_dead_is_taken_up(folder):
    """A shot whose status stands in its folder is not run again, though the book does not have it."""
    folder.write("s.toml", study(f"echo {{{{shot}}}} >> {folder.path}/log\n{LINE}"))
    folder.run()
    book = folder.path / "s.study" / "shots.jsonl"
    lines = book.read_text().splitlines(keepends=True)
    book.write_text("".join(lines[:5]) + lines[5][:20])
    assert folder.run()[0]["good"] == 12
    assert len(folder.lines("log")) == 12


def test_a_listener_that_begins_late_does_not_hold_a_short_shot(tmp_path):
    """The job has ended before the parts of the script beside it have set their traps."""
    script = shot_script("true\n", str(tmp_path), "")
    late = re.sub(r"^    trap (- TERM|'kill)", r"    sleep 1\n    trap \1", script, flags=re.MULTILINE)
    assert late.count("sleep 1\n") == 2
    (tmp_path / JOB).write_text("true\n")
    (tmp_path / SCRIPT).write_text(late)
    shot = subprocess.Popen(
        ["/bin/sh", SCRIPT, "watch"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert shot.wait(patient(20)) == 0
        assert shot.stdout.read().splitlines()[-1] == f"{ENDED} 0"
    finally:
        os.killpg(shot.pid, signal.SIGKILL) if shot.poll() is None else shot.stdin.close()


def test_two_processes_do_not_run_one_study(folder):
    folder.write("s.toml", study(f"sleep 600\n{LINE}"))
    going = folder.start()
    until(lambda: (folder.path / "s.study" / "shots.jsonl").exists() and "sleep 600 " in folder.left())
    _, said = folder.run(code=1)
    assert "another process runs this study" in said
    going.terminate()
    going.communicate()


def test_until_the_means_are_known(folder):
    """It ends at the first look at which Student's interval is narrow enough, however many shots run at once."""
    folder.write("s.toml", study(LINE, "until = '3%'", samples=400, hosts="[hosts.here]\nslots = 7"))
    found, _ = folder.run()
    x = points("random", 400, 1, 3)[:, 0]
    looks, count = [30], 30
    while count < 400:
        looks.append(count := int(np.ceil(count * 1.1)))

    def half(n):
        y = 2 * x[:n] + 3
        return stats.t.ppf(0.975, n - 1) * y.std(ddof=1) / n**0.5 / y.mean()

    assert found["shots"] == next(n for n in looks if half(n) <= 0.03)
    assert found["stable"] is True


BAD = {
    "unknown placeholder": (study("echo {{x}} {{xx}}"), "command:1: {{xx}} stands for nothing"),
    "unused": (study("echo 1"), "x is drawn, but {{x}} stands in no template"),
    "no group": (study(LINE, outputs="[outputs.y]\npattern = 'Y'"), "has no group"),
    "no file": (study(LINE, job='inputs = ["gone"]'), "gone: there is no such file"),
    "outside": (study(LINE, job='inputs = ["../gone"]'), "is not below the folder of the study"),
    "a typo": (study(LINE, "sampels = 3"), "'sampels' is not known"),
    "time": (study(LINE, job='timeout = "soon"'), "timeout = 'soon'"),
    "window": (study(LINE, hosts="[hosts.a]\nwindows = ['Mox 1:00-2:00']"), "is no time window"),
    "half a copy": (study(LINE, hosts="[hosts.a]\nput = 'cp {{here}} {{there}}'"), "work, put and get belong together"),
    "no command": (study(LINE, hosts="[hosts.a]\nrun = 'ssh a'"), "{{command}} must stand in it"),
    "directive": (study(f"#& inptu a\n{LINE}"), "#& inptu a is not known"),
    "not toml": ("samples = = 3", "not a TOML file"),
    "law": (study(LINE).replace("'0..1'", "'gauss:1,2'"), "is not a known distribution"),
}


@pytest.mark.parametrize("name", BAD)
def test_mistakes_are_one_line(folder, name):
    text, expected = BAD[name]
    folder.write("s.toml", text)
    _, said = folder.run(code=1)
    assert expected in said and said.count("\n") == 1, said
    assert not (folder.path / "s.study" / "shot-0001").exists()


def test_a_folder_of_something_else_is_left_alone(folder):
    folder.write("s.toml", study(LINE))
    (folder.path / "mine").mkdir()
    (folder.path / "mine" / "letter").write_text("dear")
    for options in (("-o", "mine"), ("-o", "mine", "--force")):
        _, said = folder.run(*options, code=1)
        assert "is no folder of a study" in said
    assert (folder.path / "mine" / "letter").read_text() == "dear"


def test_names_with_spaces_and_quotes_and_a_large_seed(folder):
    folder.write("s.toml", study(LINE, samples=3).replace("seed = 3", f"seed = {2**70}"))
    found, _ = folder.run("-o", 'it\'s a "study"')
    assert found["good"] == 3 and found["seed"] == 2**70
