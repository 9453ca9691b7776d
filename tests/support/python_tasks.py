"""Tasks of docs/python.md: their code is run in a folder of synthetic runs, and what it prints stands below it.

PYTHONPATH=. python tests/support/python_tasks.py     writes what they print into the page
"""

import io
import re
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pandas

import analyzer
from benchmarks.synthetic.run import write_run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
TASK = re.compile(r"^### (.*?)\n\n```python\n(.*?)^```\n(?:\n```text\n(.*?)```\n)?", re.MULTILINE | re.DOTALL)


def write_runs(folder):
    """Write run.h5, before/run.h5 and after/run.h5: four ranks that exchange halos, the same bytes each time."""
    for name, seed in ((".", 1), ("before", 2), ("after", 3)):
        write_run(folder / name, "halo", 4, 400, seed)


def printed(code):
    """Return what a task prints."""
    text = io.StringIO()
    with redirect_stdout(text):
        exec(code, {"analyzer": analyzer, "pandas": pandas})
    return text.getvalue()


def main():
    def with_output(found):
        text = printed(found[2])
        return f"### {found[1]}\n\n```python\n{found[2]}```\n" + (f"\n```text\n{text}```\n" if text else "")

    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_runs(Path())
        PAGE.write_text(TASK.sub(with_output, PAGE.read_text()))


if __name__ == "__main__":
    main()
