"""Makes the extras of an opened run."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.recording.matching.messages import Matching
from analyzer.recording.run.call_paths import RunCallPaths, RunCodeSamples
from analyzer.recording.run.cpu_use import RunCpuUse
from analyzer.recording.run.extras import (
    RunChosen,
    RunCounters,
    RunCpuWaits,
    RunErrors,
    RunLeftovers,
    RunLosses,
    RunObjects,
    RunRegions,
    RunSummedCalls,
    RunTracerTime,
)
from analyzer.recording.run.parts import RunParts
from analyzer.recording.run.rank_rows import RankRows, RowReader
from analyzer.trace import Clocks, Extra, Trace


def extras_of(parts: RunParts, trace: Trace, reader: RowReader, matched: Callable[[], Matching]) -> list[Extra]:
    """Make the extras of a run, which its trace offers.

    Args:
        parts: The opened run.
        trace: Its trace, from which `Leftovers.leave_out` removes messages.
        reader: Reader of the rows of its files.
        matched: Function that returns the matching of its messages.
    """
    return [*_of_program(parts), *_of_tracer(parts), *_of_messages(parts, trace, matched), RankRows(reader=reader)]


def _of_program(parts: RunParts) -> list[Extra]:
    """Make the extras about the program."""
    lanes, cuts, labels = parts.opened.lanes, parts.cuts, parts.shared.labels
    files = {file.rank: file for file in parts.files}
    samples = any(file.lengths["samples"] for file in parts.files)
    by_signal = bool(parts.opened.facts["by_signal"].any())
    return [
        RunRegions(labels.regions, labels.parameters, lanes=lanes, cuts=cuts),
        RunCounters(parts.counters, lanes=lanes, cuts=cuts, sampler=parts.sampler),
        RunObjects(parts.shared.objects, lanes=lanes, cuts=cuts, size=parts.size),
        RunSummedCalls(lanes=lanes, ranks=parts.opened.ranks("summed_up")),
        RunErrors(lanes=lanes),
        RunCpuWaits(lanes=lanes),
        RunCpuUse(lanes=lanes, files=files),
        RunCallPaths(parts.paths.known, lanes=lanes, cuts=cuts, paths=parts.paths),
        RunCodeSamples(samples, by_signal, lanes=lanes, files=files, paths=parts.paths),
    ]


def _of_tracer(parts: RunParts) -> list[Extra]:
    """Make the extras about the tracer, and about what it could not record."""
    lanes, half_done = parts.opened.lanes, parts.half_done
    return [
        RunLosses(
            tuple(rank for rank in range(parts.size) if rank not in lanes),
            ending=tuple(problem.text for problem in half_done.ending),
            left_out=half_done.left_out,
            in_buffers=parts.opened.in_buffers,
            unfinished=parts.opened.died_inside,
            lanes=lanes,
            files={file.rank: file for file in parts.files},
            whole=parts.opened.ranks("whole"),
        ),
        RunTracerTime(max(int(file.attributes["buffer_bytes"]) for file in parts.files), lanes=lanes),
        Clocks(parts.clocks, parts.repair),
    ]


def _of_messages(parts: RunParts, trace: Trace, matched: Callable[[], Matching]) -> list[Extra]:
    """Make the extras about messages that lack a side."""
    return [
        RunChosen(parts.chosen, matched=matched),
        RunLeftovers(
            matched=matched,
            met=parts.relatives,
            procedures=parts.shared.procedures,
            chain=parts.paths.text,
            leave=lambda halves: parts.readers.leave_out(trace, halves),
        ),
    ]
