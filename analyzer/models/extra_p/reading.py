"""Which of Extra-P's forms a file has, if any."""

from __future__ import annotations

from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.models.extra_p.collected import Collected
from analyzer.models.extra_p.json_forms import is_json, read_json
from analyzer.models.extra_p.text import is_text, read_text

_REFUSED = {
    (".cubex", ".cube", ".cube.gz"): (
        "a Cube profile, which is of one run",
        "write a CSV with a row for each run; cube_dump -m time -s csv2 FILE prints the numbers",
    ),
    (".extra-p",): ("an experiment that Extra-P saved", "give the file of measurements that Extra-P read"),
}


def read_extra_p(path: Path) -> Collected | None:
    """Read a file of measurements of Extra-P. None: it is of none of its forms.

    Raises:
        TracelibError: The file is of one of the forms, and damaged; or a profile that is no table of measurements.
        OSError: It cannot be read.
    """
    for endings, (what, hint) in _REFUSED.items():
        if path.name.lower().endswith(endings):
            raise TracelibError(f"{path} is {what}", hint)
    with path.open("rb") as file:
        begin = file.read(4096).decode("utf-8-sig", "replace")
    reader = read_json if is_json(begin) else read_text if is_text(begin) else None
    return reader(path.read_text("utf-8-sig", "replace"), str(path)) if reader else None
