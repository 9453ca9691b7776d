"""The places of a run: for each call path its place in the program, and the chain of its callers."""

from __future__ import annotations

import re

import numpy as np

from analyzer.places.hidden_frames import is_shown_in_detail
from analyzer.places.modules import ModuleState, sentence
from analyzer.places.name_cache import NameCache
from analyzer.places.name_table import FRAME, Frame
from analyzer.places.paths import PathTables, text_of
from analyzer.places.readable_names import short_files, without_arguments
from analyzer.places.sites import NOT_KNOWN, NOT_RECORDED, named_sites
from tracelib.schema import PATH_IN_FUNCTION

BEFORE = " < "
"""Text between a place and its caller in a chain."""
_ENDS = {NOT_RECORDED: "...", NOT_KNOWN: "?"}


ON = " and on"
"""Text behind the line from which a loop goes back to an earlier line."""


class Places:
    """All paths of a run with the names of their places.

    A place is a line of a function or, if lines are not known, an address in a function or module. Places are numbered
    from 0; place 0 is the unknown one. A path is a row of `paths`, from `merged_paths`.
    """

    def __init__(self, tables: PathTables, known: NameCache) -> None:
        self.paths, self._tables, self.known = tables.paths, tables, known
        self._up = tables.paths["parent"].astype(np.int64)
        self._sites = named_sites(tables, known)
        self._frames, self._texts = self._sites.names.frames, self._sites.names.texts
        self._short = short_files({self._texts[number] for number in np.unique(self._frames["file"])})
        self._row_of_path = self._rows_of_places()
        self._rows, self.place = self._numbered()
        """Place of each path, of shape (paths,).

        It is the innermost frame that belongs neither to MPI nor to a binding.
        """

    def __len__(self) -> int:
        """Return the number of places, including the unknown one."""
        return len(self._rows)

    def function(self, place: int) -> str:
        """Return the function name of a place, without arguments; if unknown, the address, such as `solver+0x1a2b`."""
        return without_arguments(self._of(place).function)

    def label(self, frame: Frame) -> str:
        """Return a frame's function name that is unique enough to identify it.

        Python's `<module>` or `<lambda>` exist in every file, so their file is appended: `<module> (run.py)`.
        """
        function = without_arguments(frame.function)
        return f"{function} ({self._short[frame.file]})" if function.startswith("<") and frame.file else function

    def labelled(self, place: int) -> str:
        """Return the label of a place's frame (see `label`)."""
        return self.label(self._of(place))

    def file(self, place: int) -> str:
        """Return the source file of a place as the compiler wrote it; "": not known."""
        return self._of(place).file

    def line(self, place: int) -> int:
        """Return the line number of a place; 0: not known."""
        return self._of(place).line

    def location(self, place: int) -> str:
        """Return file and line of a place, such as `exchange.c:212`; "": the line is not known."""
        return self._where(self._of(place))

    def text(self, place: int) -> str:
        """Return a place as it is shown: `exchange.c:212 in exchange`.

        If the line is not known, it is an address, such as `exchange+0x1a` or `solver+0x1a2b`.
        """
        return self._text(self._of(place))

    def frames(self, path: int) -> list[Frame]:
        """Return the frames of a path from its place outwards to `main`.

        Inlined frames are included, start code is not.
        """
        return [self._frame(row) for row in self._shown(path)]

    def named_frames(self, path: int) -> list[tuple[str, str]]:
        """Return function and location, such as `exchange.c:212`, of each of `frames(path)`; both "" if not known."""
        return [
            ("", "") if frame.function in _ENDS else (self._called(frame), self._where(frame))
            for frame in self.frames(path)
        ]

    def chain(self, path: int) -> str:
        """Return a path as text: `exchange.c:212 in exchange < solve main.c:88 < main main.c:40`.

        A chain ends with `...` if further callers were not recorded, and with `?` if they are not known.
        """
        frames = self.frames(path)
        if not frames:
            return NOT_KNOWN
        callers = [
            _ENDS.get(frame.function) or f"{self._called(frame)} {self._where(frame)}".rstrip() for frame in frames[1:]
        ]
        return BEFORE.join([self._text(frames[0]), *callers])

    def through(self, text: str) -> np.ndarray:
        """Return a mask of the paths that have a frame of the program in a function, in a file, or at a `file:line`.

        `text` may be a full or a short file name, or a function name with or without arguments.
        """
        is_file = self._named(lambda file: text in (file, self._short.get(file)))
        is_function = self._named(lambda function: text in (function, without_arguments(function)))
        found = (is_file[self._frames["file"]] | is_function[self._frames["function"]]) & ~self._sites.hidden
        file, _, line = text.rpartition(":")
        if file and line.isdigit():
            in_file = self._named(lambda name: file in (name, self._short.get(name)))[self._frames["file"]]
            found |= in_file & (self._frames["line"] == int(line)) & ~self._sites.hidden
        has = np.zeros(len(self._sites.names), bool)
        has[self._sites.of_frame[found]] = True
        return self._reached(has[self._sites.of_path])

    def seen(self) -> np.ndarray:
        """Return a mask of the paths whose innermost address, without callers, is in code of the program."""
        seen = np.zeros(len(self._sites.names), bool)
        seen[self._sites.of_frame[~(self._sites.hidden | self._sites.runtime)]] = True
        return seen[self._sites.of_path]

    def stretch(self, first: int, second: int) -> tuple[str, str, str] | None:
        """Return the code from the line of one path to the line of another path with the same callers.

        A loop goes back to an earlier line. Then the text names only its first line: `smooth.f90:61 and on in smooth`.

        Returns:
            The text `smooth.f90:40-61 in smooth`, the location `smooth.f90:40-61` ("": lines not known), and the
            function. None: the paths are not in one function of the program.
        """
        for one, other in zip(*(self._own_frames(path) for path in (first, second)), strict=False):
            functions, lines = ({self._called(frame) for frame in (one, other)}, (one.line, other.line))
            if len(functions) == 1 and one.file == other.file and lines[0] == lines[1]:
                continue
            function = without_arguments(one.function)
            if (function, one.file) != (without_arguments(other.function), other.file) or function in _ENDS:
                return None
            if not all(lines):
                past = f"-{other.past:#x}" if other.past >= one.past else ON
                return f"{function}+{one.past:#x}{past}", "", function
            where = f"{self._short[one.file]}:{lines[0]}"
            if lines[1] < lines[0]:
                return f"{where}{ON} in {function}", where, function
            where = f"{where}-{lines[1]}"
            return f"{where} in {function}", where, function
        return None

    def _own_frames(self, path: int) -> list[Frame]:
        """Return the program's frames that a path has in addition to its callers' frames, the outermost first."""
        first, site = self._sites.names.first, self._sites.of_path[path]
        rows = range(first[site + 1] - 1, first[site] - 1, -1)
        return [self._frame(row) for row in rows if not (self._sites.hidden[row] or self._sites.runtime[row])]

    def matching(self, pattern: re.Pattern[str]) -> np.ndarray:
        """Return a mask of the paths that have a frame of the program which matches a pattern.

        The pattern is searched in the function (with and without arguments), in `file:line` (with the full and the
        short file name), and in the path of the module.
        """
        frames, sites = self._frames, self._sites
        function = self._named(lambda text: bool(pattern.search(text) or pattern.search(without_arguments(text))))
        found = function[frames["function"]]
        lines, number = np.unique(frames[["file", "line"]], return_inverse=True)
        of_line = [
            line > 0 and bool(pattern.search(f"{self._texts[file]}:{line}\n{self._short[self._texts[file]]}:{line}"))
            for file, line in lines.tolist()
        ]
        found |= np.array(of_line, bool)[number]
        names = [bool(name and pattern.search(name)) for name in map(text_of, self._tables.modules["path"])]
        in_module = np.array(names, bool)[np.where(sites.module & PATH_IN_FUNCTION, 0, sites.module)]
        found |= in_module[sites.of_frame]
        has = np.zeros(len(sites.names), bool)
        has[sites.of_frame[found & ~sites.hidden]] = True
        return self._reached(has[sites.of_path])

    def ends(self) -> np.ndarray:
        """Return the paths that are not the caller of another path."""
        return np.setdiff1d(np.arange(1, len(self._up)), self._up)

    def in_mpi(self) -> np.ndarray:
        """Return a mask of the paths that contain a frame of MPI, of a binding, or of tracelib."""
        has = np.zeros(len(self._sites.names), bool)
        has[self._sites.of_frame[self._sites.mpi]] = True
        return self._reached(has[self._sites.of_path])

    def notes(self, paths: np.ndarray) -> list[str]:
        """Return a sentence on each module whose places lack names, the module with most such places first.

        `paths` are the paths of calls. Paths that occur only as callers are not to be listed.
        """
        counts: dict[str, int] = {}
        for row in self._rows[np.unique(self.place[paths])]:
            number = int(self._sites.module[self._sites.of_frame[row]]) if row >= 0 else 0
            if not 0 < number < PATH_IN_FUNCTION:
                continue
            module, frame = self._tables.module(number), self._frames[row]
            if not is_shown_in_detail(module.path):
                continue
            state = self.known.module_names(module).state  # for places with names: the state when the names were found
            if not frame["file"] and not frame["past"]:
                state = self.known.here.get(module.identity, state)
            if state == ModuleState.NEWER or not frame["file"]:
                said = sentence(module, state)
                counts[said] = counts.get(said, 0) + 1
        return sorted(counts, key=lambda said: -counts[said])

    def _rows_of_places(self) -> np.ndarray:
        """Return for each path the row of the frame that is its place; -1: none.

        It is the innermost frame of the program, or the innermost frame if none belongs to the program.
        """
        first, of_path = self._sites.names.first, self._sites.of_path
        own = np.full(len(self._sites.names), -1)
        shown = np.flatnonzero(~(self._sites.hidden | self._sites.runtime))[::-1]
        own[self._sites.of_frame[shown]] = shown  # the last assignment wins, which is the innermost frame
        innermost = np.where(np.diff(first) > 0, first[:-1], -1)
        at = np.where(own[of_path] >= 0, np.arange(len(of_path)), self._up)
        while (at != at[at]).any():
            at = at[at]
        found = own[of_path][at]
        return np.where(found >= 0, found, innermost[of_path])

    def _numbered(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the frame row of each place, and the place of each path. Frames with the same text are one place."""
        unknown = np.append(self._named(NOT_KNOWN.__eq__)[self._frames["function"]], True)  # last entry: row -1
        known = np.where(unknown[self._row_of_path], -1, self._row_of_path)
        rows, row_of_path = np.unique(np.append(known, -1), return_inverse=True)
        short: dict[str, int] = {}
        function = np.array([short.setdefault(without_arguments(text), len(short)) for text in self._texts])
        frames = self._frames[rows] if len(self._frames) else np.zeros(len(rows), FRAME)
        columns = [frames["past"], frames["line"], frames["file"], function[frames["function"]], rows >= 0]
        order = np.lexsort(columns)
        new = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
        number = np.empty(len(rows), np.int64)
        number[order] = np.cumsum([0, *new])
        return rows[order[np.append(True, new)]], number[row_of_path][:-1]

    def _of(self, place: int) -> Frame:
        row = int(self._rows[place])
        return self._frame(row) if row >= 0 else Frame(NOT_KNOWN)

    def _frame(self, row: int) -> Frame:
        function, file, line, past = self._frames[row].tolist()
        return Frame(self._texts[function], self._texts[file], line, past)

    def _shown(self, path: int) -> list[int]:
        """Return the rows of the frames of a path that are shown, from its place outwards."""
        rows, ended = self._chain_rows(path), []
        rows = rows[rows.index(self._row_of_path[path]) :] if rows else []
        if len(rows) > 1 and self._texts[self._frames["function"][rows[-1]]] in _ENDS:
            ended = [rows.pop()]
        while len(rows) > 1 and self._sites.runtime[rows[-1]]:
            rows.pop()
            ended = []
        return [*rows[:1], *(row for row in rows[1:] if not self._sites.hidden[row]), *ended]

    def _chain_rows(self, path: int) -> list[int]:
        first = self._sites.names.first
        rows: list[int] = []
        while path:
            site = self._sites.of_path[path]
            rows += range(first[site], first[site + 1])
            path = int(self._up[path])
        return rows

    def _named(self, test) -> np.ndarray:
        return np.array([bool(text) and test(text) for text in self._texts], bool)

    def _reached(self, has: np.ndarray) -> np.ndarray:
        """Return a mask of the paths for which `has` is True, or for which it is True for one of their callers."""
        above = self._up
        while above.any():
            has, above = has | has[above], above[above]
        return has

    def _where(self, frame: Frame) -> str:
        return f"{self._short[frame.file]}:{frame.line}" if frame.line else ""

    def _called(self, frame: Frame) -> str:
        function = without_arguments(frame.function)
        return f"{function}+{frame.past:#x}" if frame.past and not frame.line else function

    def _text(self, frame: Frame) -> str:
        where = self._where(frame)
        return f"{where} in {self._called(frame)}" if where else self._called(frame)
