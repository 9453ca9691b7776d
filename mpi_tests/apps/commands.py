"""Every command of `analyze` that takes a run, on a real one: it ends well, and its numbers can be."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from apps.analyzing import analyze
from apps.measure import Measured

Numbers = dict[str, Any]

NETWORK = ("--latency", "5us", "--bandwidth", "1000MB/s")
FACTORS = (
    "parallel_efficiency",
    "load_balance",
    "communication_efficiency",
    "serialization_efficiency",
    "transfer_efficiency",
)
ROUNDING = 1e-6
"""Tolerance of shares and sums, which consist of whole nanoseconds."""
MOST_ABOVE_RUN = 0.02
"""By so much an ideal replay may be longer than the run. It keeps what ranks computed and the order of their calls; a
send that waits for its receive there and did not in the run can make it longer."""

NEGATIVE_TIME = re.compile(r"(?<![\w.)-])-\d[\d.]* ?[num]?s\b")
MAY_NOT_END = "may never end"
"""Words of `dim` about the replay if several threads communicate: its trace has one sequence of calls a rank."""
NO_MODEL = "without a model took no time"
SEVERAL_THREADS = "several threads of rank"
"""Words of analyses that cannot do something because several threads call MPI."""
MOST_BY_DIM = 0.01
"""A .dim may be off by so much: it does not say which receive a wait is for, nor in which thread a call was made."""


@dataclass
class Said:
    """Output of the commands on one run so far."""

    measured: Measured
    numbers: dict[str, Numbers] = field(default_factory=dict)  # by title
    texts: dict[str, str] = field(default_factory=dict)


Check = Callable[[Said, Numbers], Iterator[str]]


@dataclass(frozen=True)
class Command:
    """Words behind `analyze`, and what must be true of its numbers. `of` is the file; {eager} is the size from which
    sends waited in the replay of the run."""

    words: tuple[str, ...]
    check: Check | None = None  # None: it has no --json
    of: str = "run.h5"
    name: str = ""

    @property
    def title(self) -> str:
        """How a finding names it: by its first word if not otherwise."""
        return self.name or self.words[0]


def good(said: Said, numbers: Numbers) -> Iterator[str]:
    """No finding."""
    yield from numbers["findings"]
    if not numbers["good"]:
        yield "not good"


def look(said: Said, numbers: Numbers) -> Iterator[str]:
    """The run is not longer than mpirun took; what threads did that call MPI is no more than their time."""
    runtime = numbers["runtime_s"]
    if not 0 < runtime <= said.measured.wall_s:
        yield f"the run took {runtime} s, mpirun {said.measured.wall_s:.3f} s"
    total = numbers["useful_s"]["total"] + numbers["mpi_s"]["total"]
    threads = sum(len(np.unique(rank.calls["thread"])) for rank in said.measured.rank_files)
    if total > threads * runtime * (1 + ROUNDING):
        yield f"computing and MPI are {total} s of {threads} threads x {runtime} s"
    yield from _factors(numbers["efficiency"])
    counted: Counter[str] = Counter()
    for rank in said.measured.rank_files:
        counted += rank.counts()
    yield from _other_counts(numbers, counted)


def _factors(numbers: Numbers) -> Iterator[str]:
    if SEVERAL_THREADS in (numbers["not_replayed"] or ""):
        return
    if numbers["not_replayed"]:
        yield f"not replayed: {numbers['not_replayed']}"
        return
    for name in FACTORS:
        if not 0 < numbers[name] <= 1 + ROUNDING:
            yield f"{name} is {numbers[name]}"
    product = numbers["load_balance"] * numbers["serialization_efficiency"] * numbers["transfer_efficiency"]
    if abs(product / numbers["parallel_efficiency"] - 1) > ROUNDING:
        yield f"the factors' product is {product}, parallel efficiency {numbers['parallel_efficiency']}"
    if numbers["ideal_runtime_s"] > numbers["runtime_s"] * (1 + MOST_ABOVE_RUN):
        yield f"{numbers['ideal_runtime_s']} s on an ideal network, longer than the run: {numbers['runtime_s']} s"


def efficiency(said: Said, numbers: Numbers) -> Iterator[str]:
    """Check that the factors are shares, multiply, and equal the factors of the first look."""
    yield from _factors(numbers)
    for name in FACTORS:
        if numbers[name] != said.numbers["info"]["efficiency"][name]:
            yield f"{name} is {numbers[name]}, another one than in the first look"


def iterated(said: Said, numbers: Numbers) -> Iterator[str]:
    """The main loop turns as often as the input says."""
    made = said.measured.application.iterations
    if made is not None and numbers["iterations"] != made:
        yield f"{numbers['iterations']} iterations found, {made} made"


def sampled(said: Said, numbers: Numbers) -> Iterator[str]:
    """Check that functions take no more than the computing in the output; a short run has no samples."""
    total = sum(row["time_s"] for row in numbers.get("functions", ()))
    if total and not 0 <= total <= numbers["computing_s"] * (1 + ROUNDING):
        yield f"functions take {total} s of {numbers['computing_s']} s"


def path(said: Said, numbers: Numbers) -> Iterator[str]:
    """Check that the path sums up to the run, by function and by rank."""
    length = numbers["length_s"]
    if numbers["contradictions"] or numbers["lacking"]:
        yield f"{numbers['contradictions']} contradictions, lacking {numbers['lacking']}"
    if abs(length - said.numbers["info"]["runtime_s"]) > ROUNDING:
        yield f"the path is {length} s long, the run {said.numbers['info']['runtime_s']} s"
    for part in ("functions", "by_rank"):
        total = sum(row["path_s"] for row in numbers[part])
        if abs(total - length) > ROUNDING * len(numbers[part]):
            yield f"{part} on the path sum up to {total} s of {length} s"


def waiting(said: Said, numbers: Numbers) -> Iterator[str]:
    """Kinds and ranks sum up to the whole, which is part of MPI, and that of the first look."""
    total, mpi = numbers["waiting_s"], numbers["mpi_s"]
    if not 0 <= total <= mpi * (1 + ROUNDING):
        yield f"waiting is {total} s of {mpi} s in MPI"
    if abs(total - said.numbers["info"]["waits"]["waiting_s"]) > ROUNDING:
        yield f"waiting is {total} s, another one than in the first look"
    by_kind = sum(kind["time_s"] for kind in numbers["kinds"].values())
    by_rank = sum(rank["waiting_s"] for rank in numbers["ranks"])
    if max(abs(by_kind - total), abs(by_rank - total)) > ROUNDING:
        yield f"waiting is {total} s, by kind {by_kind} s, by rank {by_rank} s"


def replayed(said: Said, numbers: Numbers) -> Iterator[str]:
    """On an ideal machine no longer than the run, with all its messages."""
    measured, predicted = numbers["measured_s"][0], numbers["predicted_s"]
    if not 0 < predicted <= measured * (1 + MOST_ABOVE_RUN):
        yield f"{predicted} s on an ideal machine, the run took {measured} s"
    if numbers["unreceived"]:
        yield f"{numbers['unreceived']} messages not received"
    yield from _complete(numbers)
    matched = sum(counted["receives"] for counted in said.measured.counted)
    if numbers["received"] != matched:
        yield f"{numbers['received']} receives replayed, {matched} counted"


def _complete(numbers: Numbers) -> Iterator[str]:
    """Check that nothing is left out but calls without a model, such as calls on files, which the replay names."""
    if numbers["incomplete"] and NO_MODEL not in numbers["incomplete"]:
        yield f"incomplete: {numbers['incomplete']}"


def same_replay(said: Said, numbers: Numbers) -> Iterator[str]:
    """A .dim is the same replay, unless Dimemas has no record for some calls."""
    if "leaves out" in said.texts["dim"]:
        return
    expected = said.numbers["replay"]
    if abs(numbers["predicted_s"] / expected["predicted_s"] - 1) > MOST_BY_DIM:
        yield f"{numbers['predicted_s']} s, of run.h5 {expected['predicted_s']} s"
    for name in ("messages", "bytes", "received"):
        if numbers[name] != expected[name]:
            yield f"{name} is {numbers[name]}, of run.h5 {expected[name]}"


def limits(said: Said, numbers: Numbers) -> Iterator[str]:
    """The last network's time is the sum of its parts; the first is the ideal replay."""
    times = [scenario["predicted_s"] for scenario in numbers["scenarios"]]
    if abs(times[0] - said.numbers["replay"]["predicted_s"]) > ROUNDING:
        yield f"ideal {times[0]} s, replayed {said.numbers['replay']['predicted_s']} s"
    yield from _complete(numbers)


def what_if(said: Said, numbers: Numbers) -> Iterator[str]:
    """Nothing gains less than nothing when it is free."""
    for row in numbers["each_free"]:
        if not 0 <= row["after_s"] <= row["before_s"] * (1 + MOST_ABOVE_RUN):
            yield f"{row['parts']} free: {row['after_s']} s instead of {row['before_s']} s"


def profile(said: Said, numbers: Numbers) -> Iterator[str]:
    """Mean computing threads x time are the useful time."""
    computed = numbers["mean"]["computing"] * numbers["end_s"]
    useful = said.numbers["info"]["useful_s"]["total"]
    if abs(computed - useful) > 1e-3 * useful:
        yield f"computing is {computed} s, useful time {useful} s"


def validated(said: Said, numbers: Numbers) -> Iterator[str]:
    """A run against itself: the error is all the model's."""
    if numbers["runs"][0]["bursts_s"] != 0:
        yield f"{numbers['runs'][0]['bursts_s']} s of the error from its own bursts"


def sensitive(said: Said, numbers: Numbers) -> Iterator[str]:
    """No network is faster than the ideal one, and more latency makes nothing faster."""
    ideal, predicted = said.numbers["replay"]["predicted_s"], numbers["predicted_s"]
    low, high = (corner["predicted_s"] for corner in sorted(numbers["corners"], key=lambda c: len(c["high"])))
    if not ideal <= predicted * (1 + ROUNDING) or not low <= high * (1 + ROUNDING):
        yield f"{predicted} s ({low} to {high} s by latency), ideal {ideal} s"
    if abs(sum(term["influence"] for term in numbers["terms"]) - 1) > ROUNDING:
        yield f"influences are {numbers['terms']}"


def spread(said: Said, numbers: Numbers) -> Iterator[str]:
    """Mean and median lie between least and most."""
    run = numbers["runs"][0]
    for middle in (run["mean_s"], run["quantiles_s"]["0.5"]):
        if numbers["failed"] or not run["least_s"] <= middle <= run["most_s"]:
            yield f"{middle} s, {run['least_s']} to {run['most_s']} s, {numbers['failed']} failed"


def fitted(said: Said, numbers: Numbers) -> Iterator[str]:
    """The best machine lies in the range that it was drawn from."""
    if numbers["failed"] or not 1e-6 <= numbers["parameters"][0]["best"] <= 10.000001e-6:
        yield f"{numbers['failed']} failed, best {numbers['parameters'][0]}"


def packed(said: Said, numbers: Numbers) -> Iterator[str]:
    """In fewer bytes; what is in them, another command says."""
    if not 0 < numbers["bytes"] <= numbers["bytes_before"]:
        yield f"{numbers['bytes']} bytes packed, {numbers['bytes_before']} before"


def same_look(said: Said, numbers: Numbers) -> Iterator[str]:
    """Packed, the run has the same counts and times."""
    yield from _same_times(said, numbers)
    expected = {name: call["count"] for name, call in said.numbers["info"]["calls"].items()}
    yield from _other_counts(numbers, expected)


def paraver_look(said: Said, numbers: Numbers) -> Iterator[str]:
    """A .prv has the same times. Calls that share a row are one call there, and MPI_Init_thread is MPI_Init."""
    yield from _same_times(said, numbers)
    expected: Counter[str] = Counter()
    for rank in said.measured.rank_files:
        polls = [rank.procedures[call] for call in rank.tables["polls"]["call"]]
        expected.update("MPI_Init" if n == "MPI_Init_thread" else n for n in [*map(str, rank.names), *polls])
    yield from _other_counts(numbers, expected)


def _same_times(said: Said, numbers: Numbers) -> Iterator[str]:
    for name in ("runtime_s", "useful_s", "mpi_s"):
        if numbers[name] != said.numbers["info"][name]:
            yield f"{name} is {numbers[name]}, of run.h5 {said.numbers['info'][name]}"


def _other_counts(numbers: Numbers, expected: Mapping[str, int]) -> Iterator[str]:
    found = {name: call["count"] for name, call in numbers["calls"].items()}
    for name in sorted({*found, *expected}):
        if found.get(name, 0) != expected.get(name, 0):
            yield f"{found.get(name, 0)} calls of {name}, not {expected.get(name, 0)}"


COMMANDS = (
    Command(("check",), good),
    Command(("info",), look),
    Command(("efficiency",), efficiency),
    Command(("structure",), iterated),
    Command(("hot",), sampled),
    Command(("critical-path",), path),
    Command(("waits",), waiting),
    Command(("replay",), replayed),
    Command(("limits",), limits),
    Command(("what-if",), what_if),
    Command(("profile",), profile),
    Command(("validate", "--machine", "ideal", "--against", "run.h5"), validated),
    Command(("sensitivity", *NETWORK, "--factor", "latency=1us..10us"), sensitive),
    Command(("monte-carlo", *NETWORK, "--vary", "latency=1us..10us", "-n", "5"), spread),
    Command(("fit-machine", *NETWORK, "--vary", "latency=1us..10us", "-n", "5"), fitted),
    Command(("pack", "--force"), packed),
    Command(("info",), same_look, of="run-packed.h5", name="info run-packed.h5"),
    Command(("prv",)),
    Command(("check",), good, of="run.prv", name="check run.prv"),
    Command(("info",), paraver_look, of="run.prv", name="info run.prv"),
    Command(("dim",)),
    *(Command((word,), name=f"{word} as text") for word in ("info", "efficiency", "structure", "hot", "waits")),
    Command(("replay", "--eager-limit", "{eager}"), same_replay, of="run.dim", name="replay run.dim"),
)
"""In this order: some read what others wrote, or compare with what they said."""


def _eager(said: Said) -> int:
    replay = said.numbers.get("replay")
    return replay["eager"][0]["waits_from_bytes"] if replay else 0


def check_commands(measured: Measured) -> tuple[dict[str, Numbers], list[str]]:
    """The numbers of all commands by title, and what is wrong."""
    said = Said(measured)
    wrong: list[str] = []
    for command in COMMANDS:
        first, *options = (word.format(eager=_eager(said)) for word in command.words)
        as_json = ["--json"] if command.check else []
        finished = analyze(measured.folder, first, command.of, *options, *as_json)
        if SEVERAL_THREADS in finished.stderr or (command.of == "run.dim" and MAY_NOT_END in said.texts.get("dim", "")):
            continue
        if finished.returncode != 0:
            wrong.append(f"analyze {command.title}: exit code {finished.returncode}: {finished.stderr[-300:]}")
        elif command.check:
            said.numbers[command.title] = numbers = json.loads(finished.stdout)
            wrong += [f"analyze {command.title}: {finding}" for finding in command.check(said, numbers)]
        else:
            said.texts[command.title] = text = finished.stdout + finished.stderr
            wrong += [f"analyze {command.title} says {time}" for time in NEGATIVE_TIME.findall(text)]
    return said.numbers, wrong
