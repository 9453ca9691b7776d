"""A folder with a study of a small solver, the command that runs it, and the processes that come of it."""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from patience import patient

LINE = 'awk "BEGIN { printf \\"Y = %.17g\\\\n\\", 2 * {{x}} + 3 }"'
"""A solver: y = 2 x + 3."""


def study(command, more="", *, samples=12, outputs="[outputs.y]\npattern = 'Y = (\\S+)'", hosts="", job=""):
    """The text of a study of one variable x between 0 and 1."""
    return (
        f"samples = {samples}\nseed = 3\n{more}\n[variables]\nx = '0..1'\n"
        f"[job]\ncommand = '''\n{command}\n'''\n{job}\n{outputs}\n{hosts}\n"
    )


class Folder:
    """A folder of a study."""

    def __init__(self, path: Path):
        self.path = path
        self.mark = uuid.uuid4().hex
        self.environment = {**os.environ, "STUDY_MARK": self.mark, "PYTHONPATH": os.pathsep.join(sys.path)}

    def write(self, name, text, mode=0o644):
        path = self.path / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def words(self, *options):
        return [sys.executable, "-m", "analyzer", "study", "s.toml", *map(str, options)]

    def start(self, *options):
        """The command in a session of its own, as a shell's job has a group of its own."""
        return subprocess.Popen(
            self.words(*options), cwd=self.path, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def run(self, *options, code=0):
        """Run the study; return its output, as JSON where it succeeds, and its stderr."""
        done = subprocess.run(
            self.words("--json", *options), cwd=self.path, env=self.environment, text=True, capture_output=True,
            timeout=patient(120),
        )  # fmt: skip
        assert done.returncode == code, (done.stdout, done.stderr)
        assert "Traceback" not in done.stderr, done.stderr
        return json.loads(done.stdout) if code == 0 else None, done.stderr

    def lines(self, name):
        """The lines of a file, none if there is no file."""
        path = self.path / name
        return path.read_text().split() if path.exists() else []

    def records(self, folder="s.study"):
        """The lines of the study's book."""
        return [json.loads(line) for line in (self.path / folder / "shots.jsonl").read_text().splitlines()[1:]]

    def left(self):
        """Command lines of processes that the study has started and that still are."""
        found = []
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and self.mark.encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found

    def none_left(self):
        """Wait until no process is left."""
        until(lambda: not self.left(), self.left)


def until(holds, said=lambda: ""):
    """Wait until something holds."""
    last = time.monotonic() + patient(60)
    while not holds():
        assert time.monotonic() < last, said()
        time.sleep(0.05)


@pytest.fixture(name="folder")
def folder_of_study(tmp_path):
    """A folder for a study; nothing that was started in it is left."""
    found = Folder(tmp_path)
    yield found
    found.none_left()
