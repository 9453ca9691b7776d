"""The first look: what an expert reads from a run before anything else, on one or two screens of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.report.hot import sentence as computing_line
from analyzer.report.look import measurements, program_parts, sentences, tables
from analyzer.report.look.finding_sentences import findings_lines, overlap_note
from analyzer.report.look.measurements import measuring_lines
from analyzer.report.look.program_parts import iterations_lines
from analyzer.report.look.summary import Summary
from analyzer.report.waits import line as waiting_line
from analyzer.report.words import replays, units
from analyzer.report.words.clocks import clock_lines
from analyzer.report.words.cpus import waiting_for_cpus
from analyzer.report.words.groups import FEW, few_lines, print_alike
from analyzer.report.words.place_notes import print_place_notes
from analyzer.trace import Chosen, Losses
from analyzer.trace.chosen import choice_named, unreadable
from analyzer.trace.trace import NOT_KNOWN


def print_look(summary: Summary, console: Console) -> None:
    """Print all sections of the first look. Sections without content are left out."""
    for line in few_lines(summary.trace.extra(Losses).ending, FEW):
        console.print(Text(line, style="bold red"))
    _print_run(summary, console)
    _print_findings(summary, console)
    if summary.trace.duration_ns:
        _section(console, "Where the time went", tables.time_table(summary))
    if summary.bursts.count:
        console.print(Padding(Text(sentences.bursts(summary)), (0, 0, 0, 2)))
    if len(summary.hot.rows) and (line := computing_line(summary.hot, summary.places)):
        console.print(Padding(Text(line), (0, 0, 0, 2)))
    if line := sentences.tracer(summary):
        console.print(Padding(Text(line), (0, 0, 0, 2)))
    for line in waiting_for_cpus(summary.cpus):
        console.print(Padding(Text(line, style="yellow"), (0, 0, 0, 2)))
    print_alike(tables.ranks_alike(summary), console)
    _print_efficiencies(summary, console)
    if waiting := waiting_line(summary.waits):
        _lines(console, "Waiting", [waiting])
    if lines := iterations_lines(summary):
        _lines(console, "Iterations", lines)
    if summary.regions.count.any():
        title = "Regions (with their inner regions; balance: mean / longest computing of a rank)"
        _section(console, title, tables.regions_table(summary))
    if summary.place:
        _lines(console, "Calls and messages below", [sentences.chosen_calls(summary)])
    if summary.shown.count.any():
        _section(
            console,
            "MPI calls (bytes and mean bytes of a call; least, mean and most time of a rank)",
            tables.calls_table(summary),
        )
    else:
        console.print("\nNo MPI calls.")
    if summary.from_places:
        _print_places(summary, console)
    if summary.collectives:
        _section(console, "Collective operations", tables.collectives_table(summary))
    for kind, title in (("window", "Windows (one-sided communication)"), ("file", "Files (MPI I/O)")):
        if any(a.object.kind == kind for a in summary.accesses):
            _section(console, title, tables.accesses_table(summary, kind))
    _print_messages(summary, console)
    if summary.failed:
        _lines(console, "Errors that calls returned", sentences.failed(summary))
    if summary.flushes.count.any():
        _lines(console, "Flushes of the trace buffer", [sentences.flushes(summary)])
    if costs := measuring_lines(summary):
        _lines(console, "Measuring, by driver (time of all ranks)", costs)
    if summary.counted.bursts.any():
        content = measurements.counters_table(summary.counted, summary.present)
        _section(console, measurements.counters_title(summary.counted), content)
    _print_nodes(summary, console)
    left_out = sentences.left_out(summary)
    if left_out:
        _lines(console, "Left out of the trace", left_out)
    if clocks := clock_lines(summary.trace):
        _lines(console, "Clocks", clocks)
    if summary.relatives:
        _lines(console, "Other runs", few_lines([relative.text for relative in summary.relatives], FEW))
    if summary.elsewhere:
        _lines(console, "Messages with other runs", sentences.messages_of(summary.elsewhere))
    if summary.unmatched:
        _lines(console, "Messages with only one side in the trace", sentences.messages_of(summary.unmatched))
    problems = sentences.problems(summary)
    if problems:
        _lines(console, "Problems", problems)


def print_files(written: Sequence[Path], next_command: str, notes: Iterable[str], console: Console) -> None:
    """Print the files that were made from the trace, facts that they cannot hold, and the command to type next."""
    if not written and (said := list(notes)):
        _lines(console, "Not written", said)
    if written:
        _lines(console, "Written", [", ".join(map(str, written)), *notes])
        if next_command:
            console.print(Text.assemble("\nNext: ", (next_command, "bold")), soft_wrap=True)


def _print_run(summary: Summary, console: Console) -> None:
    trace = summary.trace
    console.print(Text(str(trace.path), style="bold"), soft_wrap=True)
    if trace.origin.command:
        console.print(Text(trace.origin.command), soft_wrap=True)
    missing = len(unreadable(trace.extra(Losses).missing, trace.extra(Chosen).ranks))
    hosts = ", ".join(trace.nodes.names[:4]) + (", ..." if len(trace.nodes.names) > 4 else "")
    parts = [
        (choice_named(trace) or units.plural(trace.size, "rank")) + (f" ({missing} missing)" if missing else ""),
        *([units.plural(summary.threads, "thread")] if summary.threads > len(summary.present) else []),
        units.plural(len(trace.nodes.names), "node") + (f" ({hosts})" if hosts else ""),
    ]
    parts.append(units.time(trace.duration_ns))
    if trace.origin.date:
        parts.append(f"{trace.origin.date:%Y-%m-%d %H:%M}")
    console.print(", ".join(parts))


def _print_findings(summary: Summary, console: Console) -> None:
    told = findings_lines(summary)
    if not told:
        return
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")  # the path of a long command is broken, not cut
    for number, line in enumerate(told, 1):
        grid.add_row(f"{number}.", Text(line))
    _section(console, "What costs most", grid)
    if note := overlap_note(summary):
        console.print(Padding(Text(note), (0, 0, 0, 2)))


def _print_efficiencies(summary: Summary, console: Console) -> None:
    efficiency = summary.efficiency
    if efficiency.parallel_efficiency is None:
        unknown = f"{NOT_KNOWN[0].upper()}{NOT_KNOWN[1:]}: the trace has events only, no states"
        why = "No computation was recorded" if summary.trace.origin.has_states else unknown
        console.print(f"\n{why}, so there are no efficiencies.", soft_wrap=True)
        return
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column()
    for name, value, sentence in (
        ("Parallel efficiency", efficiency.parallel_efficiency, sentences.parallel_efficiency(summary)),
        ("= Load balance", efficiency.load_balance, sentences.load_balance(summary)),
        ("x Communication eff.", efficiency.communication_efficiency, sentences.communication_efficiency(summary)),
        ("  = Serialization", efficiency.serialization_efficiency, replays.serialization_text(efficiency)),
        ("  x Transfer", efficiency.transfer_efficiency, replays.transfer_text(efficiency, summary.transfer_waits_ns)),
    ):
        if value is not None:
            grid.add_row(name, Text(units.percent(value), style=_colour(value)), sentence)
    _section(console, "Efficiency", grid)
    for note in replays.ideal_notes(efficiency.ideal):
        console.print(Padding(Text(note), (0, 0, 0, 2)))


def _print_places(summary: Summary, console: Console) -> None:
    whole = summary.whole_ns
    title = "MPI calls by place (varies: deviation of the ranks' times, in their mean)"
    _section(console, title, program_parts.places_table(summary.from_places, summary.places, whole))
    print_place_notes(summary.places.notes(np.unique(summary.callers.rows["path"])), console)


def _print_messages(summary: Summary, console: Console) -> None:
    messages = summary.messages
    if messages.arrows:
        arrows = units.plural(messages.arrows, "arrow")
        console.print(f"\n{arrows} inside a task, of no MPI call: not among the messages.")
    if not messages.count:
        if summary.trace.size > 1 and summary.profile.count.any():
            console.print(f"\nNo {'matched ' if summary.unmatched else ''}point-to-point messages.")
        return
    mean = units.size(messages.bytes / messages.count)
    title = f"{units.plural(messages.count, 'message')}, {units.size(messages.bytes)}, {mean} on average"
    _section(console, title, tables.sizes_table(messages))
    width = messages.ranks_a_block
    blocks = f", blocks of {width} ranks" if width > 1 else ""
    _section(console, f"Who sends to whom ({tables.matrix_unit(messages)}{blocks})", tables.matrix_table(summary))


def _print_nodes(summary: Summary, console: Console) -> None:
    if summary.system:
        _section(console, measurements.nodes_title(summary.system), measurements.nodes_table(summary.system))
    for note in measurements.node_notes(summary.system):
        console.print(Padding(Text(note), (0, 0, 0, 2)))


def _colour(fraction: float) -> str:
    if fraction >= 0.9:
        return "green"
    return "yellow" if fraction >= 0.7 else "red"


def _section(console: Console, title: str, content: Table) -> None:
    console.print()
    console.print(Text(title, style="bold"))
    console.print(Padding(content, (0, 0, 0, 2)))


def _lines(console: Console, title: str, lines: Iterable[str]) -> None:
    console.print()
    console.print(Text(title, style="bold"))
    for line in lines:
        console.print(Padding(Text(line), (0, 0, 0, 2)))
