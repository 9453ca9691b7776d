"""The shell script that runs one shot on its host and reports the shot's state.

The script is the daemon of Promenvir's architecture (Girona 2003, section 5.4), started for each shot. It runs the job
in a session of its own, and passes on the signals whose names come on its standard input. It ends the job when its
standard input ends, so that nothing goes on after the study has died. In a batch system it only writes the exit status.
"""

from __future__ import annotations

import re
import shlex

SCRIPT, JOB, STATUS, CUT = "shot.sh", "job.sh", "status", "cut"
BEGAN, ALIVE, ENDED = "shot began", "shot alive", "shot ended"
BEAT_S = 5.0
"""Interval in s of the script's messages that it is alive. Hosts with a short `silence_s` have a shorter one."""


def shot_script(job: str, there: str, inputs: str, beat_s: float = BEAT_S) -> str:
    """Return the shell script of a shot.

    Args:
        job: Text of the job script. The script begins with the comments at its head, where batch systems have options.
        there: Path of the shot's folder on the host.
        inputs: Folder on the host whose contents are copied into the shot's folder. "": none.
        beat_s: Time in s between two messages that the script is alive.
    """
    start = f"./{JOB}" if job.startswith("#!") else f"/bin/sh ./{JOB}"
    head = re.match(r"(?:#!.*\n)?((?:#.*\n)*)", job)
    options = head[1] if head else ""
    folder = shlex.quote(there)
    copy = f"cp -R {shlex.quote(inputs)}/. . || exit 125\n" if inputs else ""
    return f"""#!/bin/sh
{options}# One shot of a study: runs {JOB}, and writes its exit status into the file {STATUS}.
cd {folder} || exit 125
rm -f {STATUS} {CUT}
{copy}if [ "$1" != watch ]; then
    echo >began
    {start} >stdout 2>stderr </dev/null
    echo $? >{STATUS}.part && mv {STATUS}.part {STATUS}
    exit
fi
trap '' HUP INT PIPE
exec 3<&0 4>&1 >/dev/null 2>&1 </dev/null
(
    trap - HUP INT TERM PIPE
    exec setsid {start} >stdout 2>stderr 3<&- 4>&-
) &
job=$!
echo {BEGAN} >&4
(
    trap 'kill "$pause"; exit' TERM
    while :; do
        sleep {beat_s:g} 3<&- 4>&- &
        pause=$!
        wait "$pause"
        kill -s 0 "$$" || exit
        echo {ALIVE} >&4 || exit
    done
) 3<&- &
beat=$!
(
    trap - TERM
    while read -r word <&3; do kill -s "$word" -- "-$job"; done
    echo >{CUT}
    kill -s TERM -- "-$job"
    kill -s CONT -- "-$job"
    left=20
    while [ "$left" -gt 0 ] && kill -s 0 "$job"; do
        sleep 0.1
        left=$((left - 1))
    done
    kill -s KILL -- "-$job"
    kill -s KILL "$job"
    pkill -KILL -s "$job"
) 4>&- &
listen=$!
trap '' TERM # not before: both would ignore it until they have their own traps, and a short job ends sooner
wait "$job"
status=$?
kill -s KILL -- "-$job"
pkill -KILL -s "$job"
[ -e {CUT} ] || {{ echo "$status" >{STATUS}.part && mv {STATUS}.part {STATUS}; }}
kill -s TERM "$beat" "$listen"
wait
[ -e {CUT} ] || echo {ENDED} "$status" >&4
"""
