"""The sections of a page: title, a sentence for each run, a chart, and the command that prints the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shlex import quote

import numpy as np

from analyzer.critical.activities import COMPUTATION
from analyzer.machine.observed_machine import NAME_ONE
from analyzer.report.limits import outside_text, verdict
from analyzer.report.look import sentences
from analyzer.report.look.measurements import counter_format as counter_form
from analyzer.report.page import charts
from analyzer.report.page.gather import PageRun
from analyzer.report.structure import structure_sentence
from analyzer.report.words import units
from analyzer.report.words.left_out import incomplete_line, left_out_text
from analyzer.report.words.replays import basis_phrase


@dataclass(frozen=True)
class PageSection:
    """A section of a page.

    Attributes:
        sentences, commands: One for each run.
        svg: The chart; "": none, and the sentences say why.
    """

    name: str  # anchor of the section
    title: str
    sentences: list[str]  # one for each run
    commands: list[str]
    svg: str = ""


def sections(runs: Sequence[PageRun]) -> list[PageSection]:
    """Return all sections in order, except findings, efficiencies and the timeline."""
    return [_section(runs, *one) for one in _ALL]


def _section(
    runs: Sequence[PageRun], name: str, title: str, command: str, tell: Callable[[PageRun], str],
    draw: Callable[[Sequence[PageRun]], str],
) -> PageSection:  # fmt: skip
    said = []
    for run in runs:
        why = run.left_out.get(name)
        said.append(f"Not shown: {why}." if why else tell(run))
    svg = draw(runs)
    if not svg and len(runs) > 1 and not any(text.startswith("Not shown") for text in said):
        said = [f"{text} Not shown: it is not in all of the runs." for text in said]
    return PageSection(name, title, said, [command.format(quote(run.file)) for run in runs], svg)


def _matrix(run: PageRun) -> str:
    messages = run.summary.messages
    if not messages.count:
        return "Not shown: there are no messages from point to point."
    cells = messages.matrix_bytes if messages.bytes else messages.matrix_count
    source, destination = np.unravel_index(int(cells.argmax()), cells.shape)
    most = units.size(int(cells.max())) if messages.bytes else units.plural(int(cells.max()), "message")
    width, size = messages.ranks_a_block, run.trace.size
    return (
        f"{units.plural(messages.count, 'message')}, {units.size(messages.bytes)}; most from "
        f"{_block(int(source), width, size)} to {_block(int(destination), width, size)}: {most}."
    )


def _block(number: int, width: int, ranks: int) -> str:
    """Return the ranks of a block of the matrix, such as "rank 3" or "ranks 38-75"."""
    first, last = number * width, min((number + 1) * width, ranks) - 1
    return f"rank {first}" if first == last else f"ranks {first}-{last}"


def _sizes(run: PageRun) -> str:
    messages = run.summary.messages
    if not messages.count:
        return "Not shown: there are no messages from point to point."
    middle = int(np.searchsorted(np.cumsum(messages.size_count), messages.count / 2))
    return (
        f"A message has {units.size(messages.bytes / messages.count)} on average; half of them have less than "
        f"{units.size(1 << middle)}."
    )


def _calls(run: PageRun) -> str:
    profile = run.summary.profile
    order = profile.by_time()
    if not order or not profile.inside_ns.any():
        return "Not shown: there are no MPI calls that take time."
    whole = run.summary.whole_ns
    ns, rank = int(profile.inside_ns[:, order[0]].sum()), int(profile.mpi_ns().argmax())
    share = units.percent(ns / whole) if whole else "-"
    return (
        f"{profile.procedures[order[0]]} takes most: {units.time(ns)} of all ranks, {share} of their time. Rank {rank} "
        f"is longest in MPI, {units.time(int(profile.mpi_ns()[rank]))}."
    )


def _bursts(run: PageRun) -> str:
    if not run.summary.bursts.count:
        return "Not shown: no computation was recorded."
    text = sentences.bursts(run.summary)
    return f"{text[0].upper()}{text[1:]}."


def _path(run: PageRun) -> str:
    if run.path is None or run.shares is None or not run.path.length_ns:
        return "Not shown: the run takes no time."
    computing = sum(one.path_ns for one in run.shares.functions if one.function.kind == COMPUTATION)
    rank = int(run.shares.rank_path_ns.argmax())
    return (
        f"{units.percent(computing / run.path.length_ns)} of the path that determines the run's length is computation. "
        f"It goes from one rank to another {units.plural(run.path.hops, 'time')} and is longest on rank {rank}, "
        f"{units.time(int(run.shares.rank_path_ns[rank]))}."
    )


def _structure(run: PageRun) -> str:
    if run.structure is None:
        return "Not shown: there are no MPI calls."
    return f"{structure_sentence(run.structure)}."


def _sensitivity(run: PageRun) -> str:
    if run.limits is None:
        return "Not shown: it was not replayed."
    outside, limit = run.trace.duration_ns - run.limits.whole.end_ns, run.limits.limit
    largest = outside > (limit.ns if limit else 0)
    said = [verdict(run.limits, "The replay" if largest else "The run", network_known=run.network_known)]
    said.insert(0 if largest else 1, outside_text(outside, run.trace.duration_ns, largest=largest))
    said.insert(0, f"Replayed {basis_phrase(cpu_time=run.cpu_time)}.")
    if why := left_out_text(run.summary.efficiency.ideal):
        said.append(incomplete_line(why))
    if not run.network_known:
        said.append(f"Not drawn, because the run's messages do not show its network; {NAME_ONE}.")
    return " ".join(filter(None, said))


def _counters(run: PageRun) -> str:
    if not run.summary.counted.bursts.any():
        return "Not shown: no counters were read (TRACELIB_COUNTERS=PAPI_TOT_INS,PAPI_TOT_CYC)."
    counted, present = run.summary.counted, run.summary.present
    if counted.ipc is not None:
        return f"{counted.ipc:.2f} instructions a cycle in computation, of all ranks."
    name, values = counted.counters[0].name, counted.useful[present, 0]
    form, most = counter_form(name), int(values.argmax())
    return (
        f"{name} counted {form(float(values.sum()))} in computation, of all ranks; most on rank {present[most]}, "
        f"{form(float(values[most]))}."
    )


def _system(run: PageRun) -> str:
    nodes = [node for node in run.summary.system if node.cpu_busy]
    if not nodes:
        return "Not shown: the nodes were not sampled (tracelib run --system 1s)."
    busiest = max(nodes, key=lambda node: node.cpu_busy.mean if node.cpu_busy else 0.0)
    assert busiest.cpu_busy is not None
    return (
        f"On node {busiest.name} {units.percent(busiest.cpu_busy.mean)} of its CPUs' time is in use on average, by all "
        f"programs together, {units.percent(busiest.cpu_busy.max)} at most."
    )


_ALL = (
    ("matrix", "Who sends to whom", "analyze look --no-files {}", _matrix, charts.matrix),
    ("sizes", "Sizes of messages", "analyze look --no-files {}", _sizes, charts.sizes),
    ("calls", "Time in MPI by rank", "analyze look --no-files {}", _calls, charts.calls),
    ("bursts", "Bursts of computation", "analyze look --no-files {}", _bursts, charts.bursts),
    ("path", "Critical path", "analyze critical-path {}", _path, charts.path),
    ("structure", "Structure", "analyze structure {}", _structure, charts.structure),
    ("sensitivity", "Sensitivity to the network", "analyze limits --quick {}", _sensitivity, charts.sensitivity),
    ("counters", "Counters", "analyze look --no-files {}", _counters, charts.counters),
    ("system", "The nodes", "analyze look --no-files {}", _system, charts.system),
)
