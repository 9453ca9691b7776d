"""`analyze report`: one page that explains runs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from analyzer.atomic_file import whole_file
from analyzer.commands.command import Refuses, Result, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.session import Session
from analyzer.report.words.units import file_names
from analyzer.results.output_files import check_replaceable, files_read, output_base

_MOST_RUNS = 8


@command(
    "One page of HTML to pass on: findings, timeline, charts.",
    ranks=Refuses("a page is of all ranks, because a path and replays are; analyze look --no-files takes --ranks"),
    place=Refuses("a page is of all calls; analyze look --no-files and waits show those of a place"),
    output="Write the page into this .html file.  [default: NAME.html, beside the first FILE]",
)
@click.argument("files", nargs=-1, required=True, type=click.Path())
def report_command(session: Session, files: tuple[str, ...], output: str | None, force: bool) -> Result:
    """Write one page of HTML that explains each FILE: what costs most, efficiencies, ranks over time, messages, calls,
    bursts, the critical path, iterations, other networks, counters and nodes.

    The page is a file that needs no network and no other file. Several runs are side by side on one scale.
    """
    if len(files) > _MOST_RUNS:
        raise click.UsageError(f"at most {_MOST_RUNS} runs fit a page")
    from analyzer.report.page.gather import gather
    from analyzer.results.written_files import FilesResult

    names = file_names(files)
    with ExitStack() as stack:
        traces = [stack.enter_context(opened(session, file, whole=True)) for file in files]
        path = _path(files[0], output)
        check_replaceable(path, [read for trace in traces for read in files_read(trace)], force)
        runs = [
            gather(file, trace, session.team, len(files), session.step, names[file])
            for file, trace in zip(files, traces, strict=True)
        ]
        if session.speaks:
            from analyzer.report.page.html import page_html

            with session.step("Writing the page"), whole_file(path) as written:
                written.write(page_html(runs).encode())
    return FilesResult([path], [f"Written: {path}"])


def _path(file: str, output: str | None) -> Path:
    base = output_base(Path(file), output, (".html",))
    return base.with_name(f"{base.name}.html")
