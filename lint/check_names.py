"""Find public classes that share a name, and functions whose name has no verb and no noun (docs/style.md).

    python lint/check_names.py            list what is wrong; exit code 1 if there is anything
    python lint/check_names.py --shrink   take the names that are right by now off the list

lint/names_not_clean.txt lists the names that are tolerated until somebody renames them. The list may only shrink.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("analyzer", "tracelib")
LIST = "lint/names_not_clean.txt"
WORDLESS = frozenset(
    [
        "are",
        "ask",
        "at",
        "believe",
        "by",
        "here",
        "know",
        "of",
        "one",
        "said",
        "said_of",
        "tell",
        "told",
        "where",
        "which",
        "who",
    ]
)
"""Names of functions that say neither what is done nor what is returned."""


def public_classes(root: Path) -> dict[str, list[str]]:
    """Find the modules of each public class, by its name."""
    classes = defaultdict(list)
    for module, tree in _trees(root):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(module)
    return classes


def wordless_functions(root: Path) -> dict[str, list[str]]:
    """Find the modules of each function and method with a name of WORDLESS, by that name."""
    functions = defaultdict(list)
    for module, tree in _trees(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in WORDLESS:
                functions[node.name].append(module)
    return functions


def wrong(root: Path = ROOT) -> Iterator[str]:
    """Yield one line for each wrong name outside the list, and for each entry of the list that must go."""
    found, entries = _found(root), tolerated(root)
    for entry, why in found.items():
        if entry not in entries:
            yield why
    for entry in entries:
        if entry not in found:
            yield f"{LIST}: {entry} is right by now; remove the line (python lint/check_names.py --shrink)"


def tolerated(root: Path) -> list[str]:
    """Read the entries of the list: a class by its name, a function as `module name`."""
    path = root / LIST
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if line and not line.startswith("#")]


def shrink(root: Path = ROOT) -> list[str]:
    """Remove the entries that are right by now, and return them."""
    found = _found(root)
    gone = [entry for entry in tolerated(root) if entry not in found]
    path = root / LIST
    if gone:
        path.write_text("".join(f"{line}\n" for line in path.read_text().splitlines() if line not in gone))
    return gone


def _found(root: Path) -> dict[str, str]:
    """Describe each wrong name, by the entry that would tolerate it."""
    found = {}
    for name, modules in sorted(public_classes(root).items()):
        if len(modules) > 1:
            found[name] = f"class {name} stands in {', '.join(modules)}: a name says what it is without its module"
    for name, modules in sorted(wordless_functions(root).items()):
        for module in sorted(set(modules)):
            found[f"{module} {name}"] = f"{module}: function {name}: say what is done, or what is returned"
    return found


def _trees(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            if path.name != "_functions.py":
                module = ".".join(path.relative_to(root).with_suffix("").parts)
                yield module.removesuffix(".__init__"), ast.parse(path.read_text())


def main() -> int:
    """Print what is wrong, or shrink the list; return the exit code."""
    if sys.argv[1:] == ["--shrink"]:
        print("\n".join(shrink()))
        return 0
    lines = list(wrong())
    print(*lines, sep="\n", end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
