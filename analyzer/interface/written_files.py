"""Methods of an opened run that write files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.arguments import Count, Seconds, checks_arguments
from analyzer.errors import TracelibError
from analyzer.interface.choices import IterationArgument, PathArgument, iteration_choice, one_of
from analyzer.interface.opened_run import OpenedRun
from analyzer.interface.refusals import REPLAYS_CALLS, REPLAYS_RANKS
from analyzer.results.open_part import chosen_loop, iterations_in

if TYPE_CHECKING:  # an analysis is imported when it is asked for
    from analyzer.results.cut import CutResult
    from analyzer.results.pack import PackResult


@checks_arguments
class WrittenFiles(OpenedRun):
    """Files of a run for other programs. Each method writes what the `analyze` command in its docstring writes."""

    def cut(
        self,
        output: PathArgument | None = None,
        *,
        iterations: Count | None = None,
        first: Count | None = None,
        iteration: IterationArgument | None = None,
        loop: Count | None = None,
        begin: Seconds | None = None,
        end: Seconds | None = None,
        force: bool = False,
    ) -> CutResult:
        """Write some iterations as a small run of their own, which `analyzer.open` reads (`analyze cut`).

        Without `first`, `iteration` and times, the iterations that are most like the whole loop are chosen.

        Args:
            output: Name of the small run: .h5, .prv or .dim. None: NAME-cut.h5 beside the run.
            iterations: Number of iterations. None: 2, or as many as are needed for the whole loop's efficiencies.
            first: Number of the first iteration, from 1. None: as `iteration` says, or the most typical iterations.
            iteration: Iterations by their numbers: 113 or "10-20"; "2:14" is iteration 14 of loop 2.
            loop: Number of the loop in `structure`; 1 is the main loop.
            begin: Begin of a stretch of time to cut out instead of iterations, seconds.
            end: End of the stretch of time, seconds.
            force: Whether an existing file that is no trace may be replaced.

        Raises:
            TracelibError: There are no iterations, or too few, or the file cannot be written.
        """
        from analyzer.results.cut import choose_iterations, path_of_cut, write_part
        from analyzer.structure.cut.chosen_iterations import fixed_window, window

        self._check_choices(
            "a cut",
            ranks="it has all ranks, because they wait for each other",
            place="it has all calls of its time, because ranks wait for each other in them",
        )
        if not self.trace.has_call_times:
            raise TracelibError(f"{self._path}: a Dimemas trace has no times", "cut the run that it was made of")
        path = path_of_cut(self.trace, None if output is None else os.fspath(output))
        if begin is not None or end is not None:
            if any(one is not None for one in (iterations, first, iteration, loop)):
                raise TracelibError("begin and end name times", "leave out iterations, first, iteration and loop")
            return write_part(self.trace, fixed_window(self.trace, *self._times(begin, end)), path, self._host,
                              content="a stretch", force=force)  # fmt: skip
        wanted = iteration_choice(loop, iteration)
        if wanted and wanted.first and (first or iterations):
            raise TracelibError("iteration names all iterations", "leave out first and iterations")
        host = replace(self._host, wanted=wanted)
        found = chosen_loop(self.trace, host, wanted) if wanted else iterations_in(self.trace, host)
        if wanted and wanted.first:
            start, count = wanted.numbers(found.count)
        else:
            start, count = choose_iterations(self.trace, host, found, iterations, first)
        which = f"iteration {start + 1}" if count == 1 else f"iterations {start + 1} to {start + count}"
        content = f"{which} of {found.count}" + (f" of loop {wanted.loop}" if wanted and wanted.loop else "")
        windows = window(found, start, count)
        return write_part(self.trace, windows, path, host, content=content, first=start + 1, force=force)

    def report(self, output: PathArgument | None = None, *, force: bool = False) -> Path:
        """Write one page of HTML that explains the run (`analyze report`).

        Args:
            output: Name of the page. None: NAME.html beside the run.
            force: Whether an existing file that is no such page may be replaced.

        Returns:
            Path of the page.

        Raises:
            TracelibError: The run has no times, or the page cannot be written.
        """
        from analyzer.atomic_file import whole_file
        from analyzer.report.page.gather import gather
        from analyzer.report.page.html import page_html
        from analyzer.results.output_files import check_writable, output_base

        self._check_choices("a page", ranks="a path and replays need all ranks", place="it is of all calls")
        base = output_base(Path(self._path), None if output is None else os.fspath(output), (".html",))
        path = base.with_name(f"{base.name}.html")
        check_writable(path, self.trace, force)
        gathered = gather(self._path, self.trace, self._host.team, 1, name=Path(self._path).name)
        with whole_file(path) as written:
            written.write(page_html([gathered]).encode())
        return path

    def to_paraver(
        self,
        output: PathArgument | None = None,
        *,
        waits: bool = False,
        callers: Count | None = None,
        iterations: bool = False,
        force: bool = False,
    ) -> list[Path]:
        """Write the run as a Paraver trace (`analyze prv`).

        Args:
            output: Name of the trace, with or without .prv, or a folder. None: beside the run.
            waits: Whether wait states are added as events, with a .waits.cfg that shows them.
            callers: Number of levels of callers to add as events. None: no callers.
            iterations: Whether iterations are added as events.
            force: Whether existing files are replaced that are no traces.

        Returns:
            Paths of NAME.prv, NAME.pcf, NAME.row, and of NAME.waits.cfg.

        Raises:
            TracelibError: A file cannot be written, or the run does not know callers or iterations.
        """
        from analyzer.results.output_files import output_base
        from analyzer.results.write_traces import with_callers, write_paraver, write_with_waits
        from analyzer.structure.events import WithIterations

        self._check_choices("a Paraver trace", place="it has all calls; with callers, Paraver can choose among them")
        shown = with_callers(self.trace, callers) if callers else self.trace
        shown = WithIterations(shown, iterations_in(self.trace, self._host)) if iterations else shown
        base = output_base(Path(self._path), None if output is None else os.fspath(output), (".prv",))
        return (write_with_waits if waits else write_paraver)(shown, base, self._host, force)

    def to_dimemas(self, output: PathArgument | None = None, *, force: bool = False) -> Path:
        """Write the run as a Dimemas trace (`analyze dim`).

        Args:
            output: Name of the trace, with or without .dim, or a folder. None: beside the run.
            force: Whether an existing file is replaced that is no trace.

        Returns:
            Path of NAME.dim.

        Raises:
            TracelibError: The file cannot be written.
        """
        from analyzer.results.output_files import output_base
        from analyzer.results.write_traces import dimemas_notes, write_dimemas

        self._check_choices("a Dimemas trace", ranks=REPLAYS_RANKS, place=REPLAYS_CALLS)
        base = output_base(Path(self._path), None if output is None else os.fspath(output), (".dim",))
        written = write_dimemas(self.trace, base, self._host, force)
        self._host.mention(dimemas_notes(self.trace, written))
        return written.path

    def export(
        self,
        output: PathArgument | None = None,
        *,
        to: str = "perfetto",
        tables: str | tuple[str, ...] = (),
        iterations: bool = False,
        force: bool = False,
    ) -> list[Path]:
        """Write the run for Perfetto, Chrome, pandas, R or Vampir (`analyze export`).

        Args:
            output: Name of the files, with or without ending, or a folder. None: beside the run.
            to: "perfetto", "chrome", "parquet" or "otf2".
            tables: Parquet: names of one or several tables. Empty: all tables.
            iterations: Parquet: whether to write a table of iterations, and the iteration of each row in the other
                tables.
            force: Whether existing files of another kind may be replaced.

        Returns:
            Paths of the files.

        Raises:
            TracelibError: A file cannot be written.
        """
        from analyzer.frames.tables import TABLES
        from analyzer.results.export import ENDINGS, export
        from analyzer.results.output_files import output_base

        names = (tables,) if isinstance(tables, str) else tables
        one_of("to", to, list(ENDINGS))
        for name in names:
            one_of("tables", name, list(TABLES))
        if (names or iterations) and to != "parquet":
            raise TracelibError("tables and iterations are for Parquet", 'to="parquet"')
        self._check_choices("an export", place="it has all calls")
        wanted = self._host.wanted
        found = iterations_in(self.trace, self._host) if wanted and wanted.is_part else None
        base = output_base(Path(self._path), None if output is None else os.fspath(output), (ENDINGS[to],))
        written = export(
            self.trace, base, to, self._host, tables=names, in_iterations=iterations, iterations=found, force=force
        )
        return [path for path, _ in written]

    def pack(self, output: PathArgument | None = None, *, codec: str = "gzip", force: bool = False) -> PackResult:
        """Write the run as one compressed file, to keep or to send (`analyze pack`).

        Args:
            output: Name of the file, or a folder. None: NAME-packed.h5 beside the run.
            codec: Compression of the rows, such as "gzip".
            force: Whether an existing file is replaced.

        Raises:
            TracelibError: The file exists, or the run is not of tracelib.
        """
        from analyzer.results.pack import compute
        from analyzer.writers.hdf5_groups import CODECS

        one_of("codec", codec, list(CODECS))
        self.trace  # noqa: B018, raises where the run is closed
        if self.is_part:
            raise TracelibError("a packed run has all of its ranks and calls", "open the run without choices")
        name = None if output is None else os.fspath(output)
        return compute(self._path, self._host, output=name, codec=codec, force=force)
