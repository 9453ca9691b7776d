"""Files that processes of a run on this node were about to write when they were killed."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from pathlib import Path

import psutil

from tracelib.attributes import Attributes, read_attributes
from tracelib.schema.spool import is_alive, is_here, spool_paths

_RANK_FILE = re.compile(r"\d{6,}\.h5\.tmp")


def publish_rank_files(folder: Path) -> None:
    """Give rank files of dead processes their names where they lack only that: their buffers have got theirs."""
    for path in folder.iterdir():
        final = path.with_suffix("")
        if _RANK_FILE.fullmatch(path.name) and not final.exists() and _has_buffers(read_attributes(path)):
            path.rename(final)


def _has_buffers(attributes: Attributes | str) -> bool:
    """Return True if a dead process of this node left buffers behind."""
    if isinstance(attributes, str) or not is_here(attributes) or is_alive(attributes):
        return False
    return bool(spool_paths(str(attributes["spool"])))


def links_name(run: Path) -> Path:
    """Return where this process writes run.h5 until it is whole: recoveries on several nodes may do so at once."""
    return run.with_name(f"{run.name}.{socket.gethostname()}-{psutil.Process().pid}.tmp")


def remove_links(run: Path, attributes: Sequence[Attributes]) -> None:
    """Remove run.h5 as far as dead ranks, or dead recoveries, had written it on this node under other names."""
    if all(is_here(a) and not is_alive(a) for a in attributes):
        run.with_name(f"{run.name}.tmp").unlink(missing_ok=True)
    for path in run.parent.glob(f"{run.name}.{socket.gethostname()}-*.tmp"):
        pid = path.stem.rpartition("-")[2]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            path.unlink(missing_ok=True)
