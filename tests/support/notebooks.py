"""Notebooks of the docs: their cells are run from top to bottom, as Jupyter would, and their outputs compared.

PYTHONPATH=. python tests/support/notebooks.py docs/python.ipynb     writes the outputs into the notebook
"""

import ast
import json
import re
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from benchmarks.synthetic.run import write_run


def shown(source, names):
    """Return the output of a cell, by kind: the HTML (else the text) of its last expression; nothing: it has none."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    if value is None:
        return {}
    html = getattr(value, "_repr_html_", None)
    return {"text/html": html()} if html else {"text/plain": repr(value)}


def outputs(notebook):
    """Return the output of each cell of code, run in a folder with run.h5: the same run each time."""
    names = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_run(Path(), "halo", 4, 400)
        return [shown("".join(cell["source"]), names) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def visible(data):
    """The text of what is shown, whatever the HTML around it."""
    text = "".join(part for lines in data.values() for part in lines)
    return re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL).split()


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def main(path):
    notebook = json.loads(path.read_text())
    for number, (cell, data) in enumerate(zip(code(notebook), outputs(notebook), strict=True), start=1):
        cell["execution_count"] = number
        lines = {kind: text.splitlines(keepends=True) for kind, text in data.items()}
        result = {"data": lines, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        cell["outputs"] = [result] if data else []
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
