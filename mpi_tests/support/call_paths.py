"""Recorded call paths as lines of the source, and the stacks that programs have kept by hand (hand_kept.h)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from result import RankFile

from tracelib import schema

ANY = "0"
"""A line that the program does not know."""
Stack = tuple[str, ...]
"""file:line, outermost first."""
NO_PLACE = {schema.PATH_CUT: "cut", schema.PATH_LOST: "lost", schema.PATH_SHORT: "short"}


def noted(path: Path) -> dict[int, Stack]:
    """Read the call stacks that a program wrote down, by the tag of the call."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {int(number): tuple(f"{Path(at).name}" for at in stack) for number, *stack in lines}


def _addr2line(binary: Path, addresses: Sequence[int]) -> dict[int, list[str]]:
    """file:line of each address, inlined functions innermost first."""
    words = ["addr2line", "-a", "-i", "-e", binary, *map(hex, addresses)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    found: dict[int, list[str]] = {}
    for line in said:
        if line.startswith("0x"):
            lines = found[int(line, 16)] = []
        else:
            lines.append(Path(line.split(" ")[0]).name)
    return found


@dataclass(frozen=True)
class Places:
    """Rows of `paths` of a rank, as lines of its files. `binaries` has unstripped copies of these, by name."""

    file: RankFile
    lines: Mapping[int, list[str]]  # row of paths -> file:line, innermost first
    modules: Mapping[int, str]  # row of paths -> name of its file

    @classmethod
    def of(cls, file: RankFile, binaries: Mapping[str, Path]) -> Places:
        """All that is known."""
        paths, modules = file.tables["paths"], file.tables["modules"]
        names = {i: Path(row["path"].decode()).name for i, row in enumerate(modules)}
        of_row = {i: names[int(row["module"])] for i, row in enumerate(paths) if row["module"]}
        lines: dict[int, list[str]] = {}
        for name, binary in binaries.items():
            rows = {i: int(paths[i]["offset"]) - 1 for i, at in of_row.items() if at == name}
            found = _addr2line(binary, sorted(set(rows.values()))) if rows else {}
            lines |= {i: found[address] for i, address in rows.items()}
        return cls(file, lines, of_row)

    def rows(self, path: int) -> list[int]:
        """From the call outwards."""
        found = []
        while path:
            found.append(path)
            path = int(self.file.tables["paths"][path]["parent"])
        return found

    def stack(self, path: int, sources: Iterable[str]) -> Stack:
        """Its places in these sources."""
        wanted = set(sources)
        places = [line for row in self.rows(path) for line in self.lines.get(row, [])]
        return tuple(reversed([place for place in places if place.split(":")[0] in wanted]))

    def end(self, path: int) -> str:
        """Why it ends: "" at the outermost frame, "cut", "lost", "unknown"."""
        if not path:
            return "unknown"
        last = self.file.tables["paths"][self.rows(path)[-1]]
        return "" if last["module"] else NO_PLACE[int(last["offset"])]

    def of_tags(self, procedure: str = "MPI_Send") -> dict[int, int]:
        """The path of each call of a procedure by its tag."""
        calls, paths = self.file.calls, self.file.tables["call_paths"]
        assert len(calls) == len(paths)
        chosen = self.file.names == procedure
        return {int(tag): int(path) for tag, path in zip(calls["tag"][chosen], paths[chosen], strict=True)}


def is_same(kept: Stack, recorded: Stack) -> bool:
    """Line by line, but where the program does not know."""
    if len(kept) != len(recorded):
        return False
    return all(
        a == b or (a.rsplit(":", 1)[1] == ANY and a.split(":")[0] == b.split(":")[0])
        for a, b in zip(kept, recorded, strict=True)
    )


def compare(file: RankFile, notes: Path, binaries: Mapping[str, Path], sources: Iterable[str]) -> int:
    """All calls have the path that the program kept by hand, to its end. Returns their number."""
    places, kept, sources = Places.of(file, binaries), noted(notes), set(sources)
    recorded = places.of_tags()
    assert recorded.keys() == kept.keys()
    for tag, path in recorded.items():
        found = places.stack(path, sources)
        assert is_same(kept[tag], found), f"call {tag}: kept {kept[tag]}, recorded {found}"
        assert places.end(path) == "", f"call {tag} ends {places.end(path)!r}: {found}"
    return len(recorded)
