"""Runs command lines of analyze one after the other in one process, or in the processes of one mpirun: python FILE
FOLDER.

FOLDER/lines.json has a list of words for each name. Each runs in a folder FOLDER/NAME, where out.RANK and err.RANK get
what it prints, and code.RANK its exit code.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from analyzer.cli import main
from analyzer.parallel import team


def run(words: list[str], rank: int) -> None:
    """One command line, in the present folder."""
    with Path(f"out.{rank}").open("w") as out, Path(f"err.{rank}").open("w") as err:
        sys.stdout, sys.stderr = out, err
        Path(f"code.{rank}").write_text(str(main(words)))


def run_all(folder: Path) -> None:
    """Run all command lines that the folder names."""
    members = team()
    for name, words in json.loads((folder / "lines.json").read_text()).items():
        (folder / name).mkdir(exist_ok=True)
        os.chdir(folder / name)
        run(words, members.rank)
        members.barrier()


if __name__ == "__main__":
    run_all(Path(sys.argv[1]))
