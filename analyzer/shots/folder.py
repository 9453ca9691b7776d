"""The folder of one shot: the files that a study puts into it, the shot's results, and marks of how far it got.

The marks let a study that was killed go on.

| file | |
|---|---|
| job.sh, the templates | filled with the values of the shot |
| shot.sh | the script that runs job.sh on the host |
| host | the name of the host |
| stdout, stderr | output of the job |
| status | exit status of the job; present if the job ended by itself |
| remote | present while the shot's results are on another host only |
| batch.json, submitted | present if a batch system got the shot; what the batch system printed |
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from analyzer.atomic_file import cannot_write
from analyzer.errors import TracelibError
from analyzer.shots.hosts import BatchSystem, Host
from analyzer.shots.outputs import NoOutput
from analyzer.shots.plan import ShotPlan
from analyzer.shots.shell import BEAT_S, JOB, SCRIPT, STATUS, shot_script
from analyzer.shots.shot_records import ShotOutcome, ShotRecord

_HOST, _BATCH, _SUBMITTED, _REMOTE = "host", "batch.json", "submitted", "remote"
_OWN = {SCRIPT, JOB, STATUS, "stdout", "stderr", _HOST, _BATCH, _SUBMITTED, _REMOTE, "began"}


@dataclass(frozen=True)
class ShotFolder:
    """The folder of one shot, on the host that runs the study."""

    path: Path

    def fill(self, plan: ShotPlan, shot: int, host: Host, there: str, inputs: str) -> None:
        """Create the folder anew, with job script and templates filled with the shot's values.

        An older folder is renamed first, so that a lost host that still runs the shot writes elsewhere.

        Args:
            plan: The study.
            shot: The shot's number, from 1.
            host: The host that will run the shot.
            there: Path of the shot's folder on that host.
            inputs: Path of the folder of inputs on that host; "": there are none.

        Raises:
            TracelibError: The disk is full, or the folder cannot be written.
        """
        texts = plan.texts(shot, plan.values[shot - 1], host.name)
        script = texts.pop("")
        beat_s = min(BEAT_S, host.silence_s / 4)
        try:
            self.remove()
            self.path.mkdir(parents=True)
            for file, text in texts.items():
                target = self.path / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text.encode(errors="surrogateescape"))
                target.chmod((plan.job.folder / file).stat().st_mode)
            for name, text in ((JOB, script), (SCRIPT, shot_script(script, there, inputs, beat_s)), (_HOST, host.name)):
                (self.path / name).write_bytes(text.encode(errors="surrogateescape"))
                (self.path / name).chmod(0o755)
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def remove(self) -> None:
        """Remove the folder. It is renamed first: a process of a lost host must not write into the next one."""
        if self.path.exists():
            old = self.path.with_name(f".{self.path.name}.old")
            shutil.rmtree(old, ignore_errors=True)
            self.path.rename(old)
            shutil.rmtree(old, ignore_errors=True)

    @property
    def has_ended(self) -> bool:
        """True if the shot has ended by itself, and all of its results are in this folder."""
        return (self.path / STATUS).exists() and not (self.path / _REMOTE).exists()

    def mark_remote(self, *, remote: bool) -> None:
        """Record whether the results are still on another host (True) or have arrived (False)."""
        mark = self.path / _REMOTE
        if remote:
            mark.touch()
        else:
            mark.unlink(missing_ok=True)

    def mark_batch(self, there: str) -> Path:
        """Record that the shot goes to a batch system, and return the file for the output of the submit command.

        Args:
            there: Path of the shot's folder on the host of the batch system.
        """
        (self.path / _BATCH).write_text(json.dumps({"there": there}))
        return self.path / _SUBMITTED

    def unmark_batch(self) -> None:
        """Record that the batch system does not have the shot any more."""
        (self.path / _BATCH).unlink(missing_ok=True)

    @property
    def in_batch(self) -> str:
        """Path of the shot's folder on the host whose batch system has the shot; "": no batch system has it."""
        try:
            return json.loads((self.path / _BATCH).read_text())["there"]
        except (OSError, ValueError, KeyError):
            return ""

    @property
    def host(self) -> str:
        """Name of the host that got the shot last; "": no host got it."""
        try:
            return (self.path / _HOST).read_text()
        except OSError:
            return ""

    @property
    def took_s(self) -> float:
        """Time in s from the creation of the shot's script until its job ended. The shot must have ended."""
        return max((self.path / STATUS).stat().st_mtime - (self.path / SCRIPT).stat().st_mtime, 0.0)

    def batch_id(self, batch: BatchSystem) -> str:
        """Return the job's name in the batch system, as the submit command printed it; "" if it printed none."""
        try:
            found = re.search(batch.id, (self.path / _SUBMITTED).read_text(errors="replace"))
        except OSError:
            return ""
        return found[1] if found else ""

    def harvest(self, plan: ShotPlan, shot: int, host: str, seconds: float) -> ShotRecord:
        """Read the results of a shot that has ended.

        If the shot is good and the job lists files to keep, other files are removed, except templates, files of outputs
        and files of the study itself.

        Args:
            plan: The study.
            shot: The shot's number.
            host: Name of the host that ran the shot.
            seconds: Response time of the shot in s, for the record.

        Returns:
            The record: GOOD with all outputs, or FAILED with the reason.
        """
        try:
            status = int((self.path / STATUS).read_text())
            if status:
                return ShotRecord(shot, ShotOutcome.FAILED, host, seconds, {}, self._told(status))
            outputs = {output.name: output.read(self.path) for output in plan.outputs}
        except (NoOutput, OSError, ValueError) as error:
            return ShotRecord(shot, ShotOutcome.FAILED, host, seconds, {}, str(error))
        if plan.job.keep:
            self._keep_only({*plan.job.keep, *plan.job.templates, *(output.file for output in plan.outputs)})
        return ShotRecord(shot, ShotOutcome.GOOD, host, seconds, outputs)

    def _told(self, status: int) -> str:
        try:
            lines = (self.path / "stderr").read_text(errors="replace").split("\n")
        except OSError:
            lines = []
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"exit status {status}" + (f": {last[:200]}" if last else "")

    def _keep_only(self, names: set[str]) -> None:
        wanted = {os.path.normpath(name) for name in names} | _OWN
        for top, folders, files in os.walk(self.path, topdown=False):
            for name in files:
                path = Path(top) / name
                if str(path.relative_to(self.path)) not in wanted:
                    path.unlink(missing_ok=True)
            for name in folders:
                path = Path(top) / name
                if not path.is_symlink() and not any(path.iterdir()):
                    path.rmdir()


def shot_folder(study: Path, shot: int) -> ShotFolder:
    """Return the folder of a shot, which lies in its study's folder."""
    return ShotFolder(study / f"shot-{shot:04}")


def copy_inputs(plan: ShotPlan, target: Path) -> None:
    """Copy the input files that all shots share into the folder `target`, which appears only when it is complete.

    Raises:
        TracelibError: A file cannot be read or written.
    """
    part = target.with_name(f".{target.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for name in plan.job.inputs:
            source, copy = plan.job.folder / name, part / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, copy)
            else:
                shutil.copy2(source, copy)
        part.rename(target)
    except (OSError, shutil.Error) as error:
        if isinstance(error, OSError) and error.errno:
            raise cannot_write(target, error) from error
        raise TracelibError(f"cannot copy the inputs: {error}") from error
