"""Hosts that run shots: they come, go, vanish and lie; their limits and windows; copies; batch systems.

Hosts are commands that run here. Real hosts differ only in the command line.
"""

import os
import re
import signal
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from study_folder import LINE, folder_of_study, study, until  # noqa: F401, a fixture

from analyzer.shots.hosts import HostsFile
from analyzer.shots.plan import read_plan
from analyzer.shots.scheduler import ShotScheduler
from analyzer.shots.shot_records import ShotBook

LOGGED = "echo {{shot}} {{host}} >> LOG\n" + LINE


def logged(folder, command=LOGGED):
    return command.replace("LOG", str(folder.path / "log"))


def by_host(found):
    return {of["name"]: of["shots"] for of in found["hosts"]}


def test_the_quicker_host_gets_more(folder):
    """The slow host takes a second longer to reach, the CPU is the same: response time decides."""
    hosts = "[hosts.slow]\nrun = 'sleep 1; sh -c {{command}}'\n[hosts.quick]\n"
    folder.write("s.toml", study(logged(folder), samples=16, hosts=hosts))
    found, _ = folder.run()
    assert found["good"] == 16
    assert by_host(found)["quick"] > 2 * by_host(found)["slow"] >= 2
    response = {of["name"]: of["response_s"] for of in found["hosts"]}
    assert response["slow"] > 1 + 0.2 * response["quick"]
    assert Counter(folder.lines("log")[1::2]) == by_host(found)


def test_shots_of_a_host_that_vanishes_go_to_others(folder):
    """A host that dies with its shots (all its processes at once) and one that was never there."""
    folder.write("dies", """#!/bin/sh
test -e dead && { echo "no route to host" >&2; exit 255; }
sh -c "$1" & pid=$!
( while ! test -e dead; do sleep 0.1; done; kill -9 $pid ) &
wait $pid || exit 255
""", 0o755)  # fmt: skip
    hosts = "[hosts.mortal]\nslots = 3\nrun = './dies {{command}} <&0'\nagain = '600s'\n"
    hosts += "[hosts.gone]\nrun = 'no-such-command {{command}}'\nagain = '600s'\n[hosts.steady]\n"
    folder.write("s.toml", study(logged(folder, "echo {{shot}} >> LOG\nsleep 0.5\n" + LINE), hosts=hosts))
    going = folder.start("--json")
    until(lambda: len(folder.lines("log")) >= 4)
    folder.write("dead", "")
    _, said = going.communicate()
    assert going.returncode == 0, said
    assert re.search(r"gone cannot be used: .*no-such-command", said)
    rows = folder.records()
    assert sorted(row["shot"] for row in rows) == list(range(1, 13))
    assert all(row["kind"] == "good" for row in rows)
    assert {row["host"] for row in rows} <= {"mortal", "steady"}


def test_a_host_that_freezes_is_lost_and_used_again_when_it_answers(folder):
    """Frozen as a whole, it says nothing: after `silence` its shot goes to another host."""
    folder.write("freezes", """#!/bin/sh
if mkdir first 2>/dev/null; then echo $$ > pid; exec sleep 600; fi
exec sh -c "$1"
""", 0o755)  # fmt: skip
    hosts = "[hosts.cold]\nrun = './freezes {{command}}'\nsilence = '6s'\nagain = '1s'\n"
    folder.write("s.toml", study(logged(folder, "sleep 7\n" + LOGGED), samples=1, hosts=hosts))
    found, said = folder.run()
    assert found["good"] == 1 and by_host(found) == {"cold": 1}
    assert "cold cannot be used: it has said nothing for 6 s" in said
    assert "cold is there again" in said


def test_a_shot_that_ends_its_hosts_does_so_three_times_only(folder):
    """Shot 2 kills what runs it; the study ends, and says so."""
    command = "test {{shot}} -ne 2 || { kill -9 $(ps -o ppid= -p $PPID) $PPID; sleep 600; }\n" + LINE
    hosts = "".join(f"[hosts.{name}]\nagain = '1s'\n" for name in "abc")
    folder.write("s.toml", study(command, samples=5, hosts=hosts))
    found, _ = folder.run()
    assert found["good"] == 4
    ((trouble),) = found["without_result"]
    assert trouble["kind"] == "lost" and trouble["shots"] == [2]
    assert trouble["error"].startswith("begun 3 times and lost")


def test_hosts_are_added_and_removed_while_the_study_runs(folder):
    command = logged(folder, "echo {{shot}} {{host}} >> LOG\nsleep 0.4\n" + LINE)
    folder.write("s.toml", study(command, samples=24))
    folder.write("h.toml", "[hosts.first]\n")
    going = folder.start("--json", "--hosts", "h.toml")
    until(lambda: len(folder.lines("log")) >= 4)
    folder.write("h.toml", "[hosts.first]\n[hosts.second]\nslots = 2")
    until(lambda: "second" in folder.lines("log"))
    folder.write("h.toml", "hosts = nonsense")
    folder.write("new", "[hosts.second]\nslots = 2\n").replace(folder.path / "h.toml")
    until(lambda: len(folder.lines("log")) >= 24)
    last = folder.lines("log")[1::2].index("second")
    _, said = going.communicate()
    assert going.returncode == 0, said
    order = folder.lines("log")[1::2]
    assert order[:last].count("second") == 0 and set(order[-4:]) == {"second"}
    assert sorted(map(int, folder.lines("log")[::2])) == list(range(1, 25))


def test_no_host_answers(folder):
    hosts = "[hosts.a]\nrun = 'false {{command}}'\nagain = '1s'\n"
    folder.write("s.toml", study(LINE, "patience = '2s'", hosts=hosts))
    _, said = folder.run(code=1)
    assert "Error: no host answers: a: its command line ended with exit status 1" in said


def test_a_command_line_that_keeps_standard_input_is_named(folder):
    hosts = "[hosts.a]\nrun = 'sh -c {{command}} </dev/null'\nagain = '1s'\n"
    folder.write("s.toml", study("sleep 3\n" + LINE, "patience = '1s'", samples=1, hosts=hosts))
    _, said = folder.run(code=1)
    assert "did not pass on standard input" in said


@pytest.mark.parametrize("limit", ["most_load = 2.0", "least_memory = '3G'", "least_disk = '20G'"])
def test_limits_of_a_host(folder, limit):
    """busy says that its load is 1.5, that 4 GB of memory and 21 GB of disk are available; then that nothing is."""
    folder.write("busy", """#!/bin/sh
case "$1" in
*loadavg*)
    if test -e full; then load=2.5 memory=1000000 disk=1000000; else load=1.5 memory=4194304 disk=22020096; fi
    echo "$load 1.0 1.0 1/100 1234"
    echo "MemAvailable:   $memory kB"
    echo "/dev/sda1 100000000 1000 $disk 10% /tmp";;
*) exec sh -c "$1";;
esac
""", 0o755)  # fmt: skip
    hosts = f"[hosts.busy]\nslots = 8\nrun = './busy {{{{command}}}}'\n{limit}\n[hosts.other]\n"
    folder.write("s.toml", study(logged(folder, "sleep 0.3\n" + LOGGED), samples=8, hosts=hosts))
    folder.write("full", "")
    assert by_host(folder.run()[0]) == {"other": 8}
    (folder.path / "full").unlink()
    found, _ = folder.run("--force")
    assert found["good"] == 8
    if "load" in limit:  # 1.5 + the first one is above 2: one until the load is measured again
        assert by_host(found).get("busy", 0) in (1, 2)
    else:
        assert by_host(found)["busy"] >= 3


def test_memory_of_a_job_limits_how_many_run(folder):
    """4 GB are available and a job wants 1.5: two at once, until the host is measured again."""
    folder.write("small", """#!/bin/sh
case "$1" in
*loadavg*) printf '0.1 0.1 0.1 1/9 9\\nMemAvailable: 4194304 kB\\n/dev/a 9 9 99999999 1%% /\\n';;
*) exec sh -c "$1";;
esac
""", 0o755)  # fmt: skip
    command = (
        f"#& resources memory 1536.0 Mb\nls -d {folder.path}/s.study/*/on >> LOG; touch on; sleep 2; rm on\n{LINE}"
    )
    hosts = "[hosts.small]\nslots = 9\nrun = './small {{command}}'\n"
    folder.write("s.toml", study(logged(folder, command), samples=4, hosts=hosts))
    going = folder.start("--json")
    until(lambda: len(folder.records()) >= 2 if (folder.path / "s.study" / "shots.jsonl").exists() else False)
    assert len(list((folder.path / "s.study").glob("shot-*"))) == 2
    _, said = going.communicate()
    assert going.returncode == 0, said


class Clock:
    """A clock of time windows that a test turns."""

    def __init__(self):
        self.now = datetime(2026, 11, 27, 12, 0)  # a Friday

    def __call__(self):
        return self.now


def scheduled(folder, hosts, command, clock, samples=4, said=None):
    """A study in this process whose clock is turned by `progress`."""
    path = folder.write("s.toml", study(command, samples=samples, hosts=hosts))
    plan = read_plan(path)
    study_folder = folder.path / "s.study"
    study_folder.mkdir()
    book = ShotBook(study_folder / "shots.jsonl", plan.question, plan.reads)
    return book, lambda progress: ShotScheduler(
        plan, book, study_folder, HostsFile(path), (said if said is not None else []).append,
        progress=progress, now=clock,
    ).run()  # fmt: skip


def test_a_host_is_used_in_its_windows_only(folder):
    """night works from 20:00: until then day does all there is, and after it both do."""
    clock = Clock()
    hosts = "[hosts.night]\nslots = 4\nwindows = ['Mon-Fri 20:00-07:00']\n[hosts.day]\n"
    book, run = scheduled(folder, hosts, "sleep 0.3\n" + LINE, clock, samples=12)

    def turn(_):
        if len(book.records) >= 3:
            clock.now = datetime(2026, 11, 27, 20, 0)

    assert run(turn) == 12
    at = [row["host"] for row in folder.records()]
    assert set(at[:3]) == {"day"} and "night" in at[3:]


@pytest.mark.parametrize("outside", ["suspend", "give back"])
def test_what_becomes_of_a_shot_when_the_window_closes(folder, outside):
    """Suspended, its process is stopped and goes on later; given back, another host begins it anew."""
    clock = Clock()
    clock.now = datetime(2026, 11, 27, 6, 59)
    hosts = f"[hosts.night]\nwindows = ['20:00-07:00']\noutside = '{outside}'\n[hosts.day]\nwindows = ['07:00-20:00']\n"
    command = f"echo {{{{shot}}}} >> {folder.path}/begun\necho $$ > {folder.path}/pid\nsleep 1\n{LINE}"
    book, run = scheduled(folder, hosts, command, clock, samples=1)
    states = []

    def turn(_):
        pid = folder.path / "pid"
        if not (pid.exists() and pid.read_text().strip()):
            return
        if not states:
            clock.now += timedelta(minutes=1)
        status = Path("/proc", pid.read_text().strip(), "status")
        if len(states) < 25:
            try:
                states.append(re.search(r"State:\s*(\w)", status.read_text())[1])
            except OSError:
                states.append("gone")
        else:
            clock.now = datetime(2026, 11, 27, 20, 1) if outside == "suspend" else clock.now

    assert run(turn) == 1
    if outside == "suspend":
        assert folder.lines("begun") == ["1"] and states[-5:] == ["T"] * 5
        assert book.records[1].host == "night"
    else:
        assert folder.lines("begun") == ["1", "1"] and book.records[1].host == "day"


def test_a_host_with_a_folder_of_its_own(folder):
    """Inputs are copied once for the host, results come back, nothing stays there."""
    (folder.path / "disk").mkdir()
    folder.write("solver", f"#!/bin/sh\npwd >> {folder.path}/where\n{LINE.replace('{{x}}', '$1')}\n", 0o755)
    hosts = f"""[hosts.far]
slots = 2
work = "{folder.path}/disk/far"
put = "echo put {{{{there}}}} >> copies; cp -R {{{{here}}}} {{{{there}}}}"
get = "cp -R {{{{there}}}}/. {{{{here}}}}"
"""
    folder.write("s.toml", study("./solver {{x}}", samples=5, job='inputs = ["solver"]', hosts=hosts))
    found, _ = folder.run()
    assert found["good"] == 5
    assert all(line.startswith(f"{folder.path}/disk/far/s.study-shot-") for line in folder.lines("where"))
    puts = folder.lines("copies")[1::2]
    assert len(puts) == 6 and puts.count(f"{folder.path}/disk/far/s.study-inputs") == 1
    assert list((folder.path / "disk" / "far").iterdir()) == []
    assert (folder.path / "s.study" / "shot-0003" / "stdout").read_text().startswith("Y = ")


QUEUE = """#!/bin/sh
# A batch system of one slot: `queue submit SCRIPT`, `queue alive ID`, `queue cancel ID`.
here=$(dirname "$(readlink -f "$0")")
case $1 in
submit)
    id=$(ls "$here/jobs" | wc -l)
    while ! mkdir "$here/jobs/$id" 2>/dev/null; do id=$((id + 1)); done
    setsid flock "$here/slot" sh "$2" >/dev/null 2>&1 </dev/null &
    echo $! > "$here/jobs/$id/pid"
    echo "Submitted batch job $((1000 + id))";;
alive)
    kill -0 "$(cat "$here/jobs/$(($2 - 1000))/pid")" 2>/dev/null && echo "$2 R";;
cancel)
    echo "$2" >> "$here/cancelled"
    kill -s KILL -- "-$(cat "$here/jobs/$(($2 - 1000))/pid")";;
esac
"""
BATCH = """[hosts.cluster]
slots = 3
submit = "QUEUE submit {{script}}"
alive = "QUEUE alive {{id}}"
cancel = "QUEUE cancel {{id}}"
poll = "0.3s"
"""


@pytest.fixture
def queue(folder):
    (folder.path / "jobs").mkdir()
    return BATCH.replace("QUEUE", str(folder.write("queue", QUEUE, 0o755)))


def test_a_batch_system(folder, queue):
    """Its options at the head of the job script reach it, shots that fail or are lost are known."""
    command = "#SBATCH --time=1\ncase {{shot}} in 3) exit 4;; 5) kill -9 $PPID; exit;; esac\n" + logged(folder)
    folder.write("s.toml", study(command, samples=6, hosts=queue + "again = '1s'\n"))
    found, _ = folder.run()
    without = {of["shots"][0]: (of["kind"], of["error"]) for of in found["without_result"]}
    assert found["good"] == 4 and without[3] == ("failed", "exit status 4")
    assert without[5][0] == "lost" and "does not know job" in without[5][1]
    assert (folder.path / "s.study" / "shot-0001" / "shot.sh").read_text().startswith("#!/bin/sh\n#SBATCH --time=1\n")


def test_jobs_in_a_batch_system_survive_the_study_and_are_taken_up(folder, queue):
    """Killed without a chance, the study finds its jobs again: each shot runs once."""
    folder.write(
        "s.toml", study(logged(folder, "echo {{shot}} {{host}} >> LOG\nsleep 1\n" + LINE), hosts=queue, samples=6)
    )
    going = folder.start()
    until(lambda: len(folder.lines("log")) >= 4)
    going.kill()
    going.communicate()
    found, _ = folder.run()
    assert found["good"] == 6
    assert sorted(map(int, folder.lines("log")[::2])) == [1, 2, 3, 4, 5, 6]


def test_ctrl_c_cancels_jobs_in_a_batch_system(folder, queue):
    folder.write("s.toml", study(logged(folder, "echo {{shot}} {{host}} >> LOG\nsleep 600\n" + LINE), hosts=queue))
    going = folder.start()
    until(lambda: len(list((folder.path / "jobs").iterdir())) == 3 and folder.lines("log"))
    until(lambda: len(list((folder.path / "s.study").glob("shot-*/submitted"))) == 3)
    os.killpg(going.pid, signal.SIGINT)
    going.communicate()
    assert going.returncode == 130
    assert sorted(folder.lines("cancelled")) == ["1000", "1001", "1002"]
    folder.none_left()
