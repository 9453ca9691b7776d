"""Find phrases of the banned list (docs/style.md) in docstrings, C comments, help lines and pages.

    python lint/check_words.py            list what is wrong; exit code 1 if there is anything
    python lint/check_words.py PATH...    list all phrases of these files or folders, also where they are tolerated
    python lint/check_words.py --shrink   take the folders that are clean by now off the list

lint/not_clean.txt lists the folders and files whose phrases are tolerated until somebody rewrites them. The list may
only shrink: an entry that is clean, or that does not exist, is an error. The Python lint of docstrings is ruff's.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = "lint/not_clean.txt"
SKIPPED = {"build", "dist", "generated", "__pycache__", "_functions.py"}
OPENINGS = re.compile(r"(Of|Those|What|Who|Such|So many|So long|The same of)\b(?![^.:;]*\?)")
"""A text that opens so leans on the name above it. A question may."""
PHRASES = {
    "such ones": re.compile(r"\bsuch ones\b", re.I),
    "so many": re.compile(r"\bso many\b(?![^.;:]*\b(?:that|as)\b)", re.I),
    "so long": re.compile(r"\bso long\b(?! as\b)(?![^.;:]*\bthat\b)", re.I),
    "of each ... what": re.compile(r"\bof each\b[^.;:,]*\bwhat\b", re.I),
}
"""Phrases that are wrong anywhere: the quantity has a name. "so many that" and "so long as" are English."""
IN_DOCSTRINGS = PHRASES | {"those of": re.compile(r"\bthose of\b", re.I)}
_C_TEXT = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+|//[^\n]*', re.S | re.M
)
_NOT_PROSE = re.compile(r"^```.*?^```|^    [^\n]*$|`[^`\n]*`|\]\([^)\s]*\)", re.S | re.M)


@dataclass(frozen=True)
class Text:
    """One docstring, comment, help line or page."""

    line: int
    words: str
    phrases: dict[str, re.Pattern[str]]
    may_open_anyhow: bool = False

    def wrong(self) -> Iterator[tuple[int, str]]:
        """Yield line and phrase of each hit."""
        if not self.may_open_anyhow and (opening := OPENINGS.match(self.words)):
            yield self.line, f'opens with "{opening[0]}"'
        for name, pattern in self.phrases.items():
            for hit in pattern.finditer(self.words):
                yield self.line + self.words.count("\n", 0, hit.start()), f'"{name}"'


def texts_of(path: Path) -> Iterator[Text]:
    """Yield every text of a file that a reader reads as English."""
    source = path.read_text()
    if path.suffix == ".py":
        yield from _python(ast.parse(source))
    elif path.suffix in (".c", ".h"):
        yield from _comments(source)
    elif path.suffix == ".md":
        yield Text(1, _NOT_PROSE.sub(_blank, source), PHRASES, may_open_anyhow=True)


def _python(tree: ast.Module) -> Iterator[Text]:
    """Yield docstrings, also below constants and fields, and the texts of `help=`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            text = node.value.value
            start = node.lineno + text[: len(text) - len(text.lstrip())].count("\n")
            yield Text(start, text.strip(), IN_DOCSTRINGS)
        elif isinstance(node, ast.keyword) and node.arg in ("help", "short_help"):
            literals = [n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
            yield Text(node.value.lineno, "".join(text for text in literals if isinstance(text, str)), PHRASES)


def _comments(source: str) -> Iterator[Text]:
    """Yield comments of C: `/* ... */`, and lines of `//` that stand together as one."""
    for found in _C_TEXT.finditer(source):
        comment = found[0]
        if comment[0] in "\"'":
            continue
        line = source.count("\n", 0, found.start()) + 1
        words = re.sub(r"^[ \t]*(?://+|/\*+|\*(?!/))|\*/\s*\Z", lambda sign: " " * len(sign[0]), comment, flags=re.M)
        yield Text(line, words.strip(), PHRASES)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def files(root: Path, below: Path | None = None) -> Iterator[Path]:
    """Yield all files of a tree that are checked, in order of name."""
    below = below or root
    for path in [below] if below.is_file() else sorted(below.rglob("*")):
        parts = path.relative_to(root).parts
        if path.suffix in (".py", ".c", ".h", ".md") and not any(p in SKIPPED or p.startswith(".") for p in parts):
            yield path


def found_in(root: Path, below: Path | None = None) -> dict[str, list[str]]:
    """Return one line for each hit, by file."""
    hits = {}
    for path in files(root, below):
        name = str(path.relative_to(root))
        lines = sorted({wrong for text in texts_of(path) for wrong in text.wrong()})
        if lines:
            hits[name] = [f"{name}:{line}: {phrase}" for line, phrase in lines]
    return hits


def tolerated(root: Path) -> list[str]:
    """Return the entries of the list: folders (with all below them) and files."""
    path = root / LIST
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if line and not line.startswith("#")]


def wrong(root: Path = ROOT) -> Iterator[str]:
    """Yield one line for each hit outside the list, and for each entry of the list that must go."""
    hits, entries = found_in(root), tolerated(root)
    for name, lines in hits.items():
        if _entry(name, entries) is None:
            yield from lines
    for entry in _clean(hits, entries):
        yield f"{LIST}: {entry} is clean or gone; remove the line (python lint/check_words.py --shrink)"


def shrink(root: Path = ROOT) -> list[str]:
    """Remove the entries that are clean, and return them."""
    entries = tolerated(root)
    gone = _clean(found_in(root), entries)
    path = root / LIST
    if gone:
        path.write_text("".join(f"{line}\n" for line in path.read_text().splitlines() if line not in gone))
    return gone


def _entry(name: str, entries: list[str]) -> str | None:
    """Return the longest entry that covers a file: a file of its own before its folder."""
    covering = [entry for entry in entries if name == entry or name.startswith(f"{entry}/")]
    return max(covering, key=len, default=None)


def _clean(hits: dict[str, list[str]], entries: list[str]) -> list[str]:
    needed = {_entry(name, entries) for name in hits}
    return [entry for entry in entries if entry not in needed]


def main(words: list[str]) -> int:
    """Run the check as the module's docstring says."""
    if words == ["--shrink"]:
        print("\n".join(f"clean: {entry}" for entry in shrink()))
        return 0
    if words:
        lines = [line for word in words for of in found_in(ROOT, Path(word).resolve()).values() for line in of]
    else:
        lines = list(wrong())
    print("\n".join(lines), file=sys.stderr, end="\n" if lines else "")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
