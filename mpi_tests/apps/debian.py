"""Installing an application's packages, and their versions."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

_PATIENT = ("-o", "DPkg::Lock::Timeout=300")
"""Seconds that somebody else's installation may take until ours begins."""


class NotInstalled(Exception):
    """A package cannot be installed; the text says why."""


def version(package: str) -> str:
    """As Debian numbers it, without epoch and revision; empty if it is not installed."""
    if not shutil.which("dpkg-query"):
        return ""
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package], capture_output=True, text=True
    )
    status, _, number = done.stdout.partition(" ")
    if status != "installed":
        return ""
    return number.partition(":")[2].rpartition("-")[0] or number.rpartition("-")[0] or number


def install(packages: Sequence[str]) -> None:
    """Install those that are missing, without what they merely recommend."""
    missing = [package for package in packages if not version(package)]
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise NotInstalled(f"{', '.join(missing)}: there is no apt-get here")
    if os.geteuid() != 0:
        raise NotInstalled(f"{', '.join(missing)}: only root can install")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    _run(["apt-get", "update", "-qq"], environment)
    _run(["apt-get", "install", "-y", "-qq", *_PATIENT, "--no-install-recommends", *missing], environment)


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise NotInstalled(f"{command[-1]}: {said[-1]}")
