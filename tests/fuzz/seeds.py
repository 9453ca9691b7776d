"""Inputs of a campaign: a folder of good files, which of them are damaged, and the commands that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Line = tuple[str, ...]
"""A command line; its first word says which program's."""


@dataclass(frozen=True)
class Seed:
    """Files of one kind."""

    kind: str
    folder: Path
    damaged: tuple[str, ...]
    lines: tuple[Line, ...]


def lines(*texts: str) -> tuple[Line, ...]:
    """Command lines as they are typed."""
    return tuple(tuple(text.split()) for text in texts)


def of_a_trace(file: str, good: str, machine: str = "machine.toml", only: Sequence[str] = ()) -> tuple[Line, ...]:
    """Every command that reads any trace. `good`: an undamaged one beside it; `only`: further lines, of its kind."""
    return lines(
        f"analyze {file} --json",
        f"analyze {file}",
        f"analyze look --no-files {file}",
        f"analyze look --no-files {file} --ranks 0",
        f"analyze check {file}",
        f"analyze prv {file} -o written.prv",
        f"analyze dim {file} -o written.dim",
        f"analyze export {file} -o written",
        f"analyze export {file} --to chrome -o written",
        f"analyze export {file} --to parquet -o written",
        f"analyze balance {file} --items 100",
        f"analyze critical-path {file}",
        f"analyze critical-path {file} -o path.prv",
        f"analyze efficiency {file}",
        f"analyze efficiency {good} {file} --json",
        f"analyze speedup {good} {file}",
        f"analyze diff {good} {file}",
        f"analyze diff {file} {file} --against {good} {good} --json --fail-if runtime_s<0",
        f"analyze predict {file} {good} --ranks 64 --json",
        f"analyze clusters {file} --json -o found",
        f"analyze look --no-files {file} --cluster 1",
        f"analyze representative {file} --json",
        f"analyze representative {file} --plan CPU_NS -o x.plan",
        f"analyze representative {file} --estimate",
        f"analyze fit {good} {file} --set n=1,2 --json",
        f"analyze fit-machine {file} --vary latency=1us..100us -n 3 --jobs 1 --untraced-seconds 0.001",
        f"analyze limits {file} --quick --jobs 1",
        f"analyze limits {good} {file} --machine {machine} --jobs 1 --json",
        f"analyze loggp {file} -o network",
        f"analyze monte-carlo {file} --vary latency=1us..100us -n 3 --jobs 1",
        f"analyze profile {file} --json",
        f"analyze profile {file} --machine {machine}",
        f"analyze replay {file}",
        f"analyze replay {file} --machine {machine} -o predicted.prv",
        f"analyze replay {good} --app {file} --repeat 2 --machine {machine}",
        f"analyze structure {file} --json",
        f"analyze structure {file} --method signals -o drawn.png",
        f"analyze report {file} -o page.html",
        f"analyze view {file} --print",
        f"analyze view {file} {file} --draw state --draw bytes-in-flight --print --json",
        f"analyze look --no-files {file} -q --picture ranks.png",
        f"analyze cut {file} --from 0 --to 0.001 -o cut.h5",
        f"analyze sensitivity {file} --machine {machine} --jobs 1",
        f"analyze table {good} {file} --outliers median -o table.csv",
        f"analyze table {file} --by call --by region --by place -o table.xml",
        f"analyze validate {file} --against {good} --machine {machine}",
        f"analyze hot {file} --lines --json",
        f"analyze prv {file} --callers 3 -o called.prv",
        f"analyze waits {file}",
        f"analyze what-if {file} --by calls --jobs 1",
        f"analyze look --no-files {file} --place solve",
        f"analyze check {file} --place .",
        f"analyze waits {file} --place . --json",
        f"analyze critical-path {file} --place .",
        f"analyze what-if {file} --place . --jobs 1",
        f"analyze loggp {file} --place .",
        f"analyze profile {file} --by place --json",
        f"analyze replay {file} --by place",
        f"analyze views {file} --view parallelism --view mpi-call --view message-queue --view ipc --json",
        f"analyze views {file} --view send-bandwidth --show bursts --csv views.csv",
        f"analyze views {file} --view region --picture views.png --level task",
        *only,
    )


def of_a_run(file: str, good: str, machine: str = "machine.toml") -> tuple[Line, ...]:
    """Every command that reads a run of our own."""
    return of_a_trace(
        file,
        good,
        machine,
        (
            f"analyze pack {file} -o packed.h5",
            f"analyze check {file} --repair-clocks 1us",
            f"analyze waits {file} --repair-clocks 0 --json",
            f"analyze replay {file} --machine {machine} -o predicted.h5",
            f"analyze what-if {file} --json --jobs 1",
            f"analyze efficiency {file} --region solve",
            f"analyze hot {file}",
            f"analyze hot {file} --flame f.svg --against {good} --collapsed c.txt --speedscope s.json --place solve",
            f"tracelib recover {file}",
        ),
    )


def of_a_machine(file: str, trace: str) -> tuple[Line, ...]:
    """Every command that reads a machine."""
    return lines(
        f"analyze machine {file}",
        f"analyze machine {file} --ranks 3 -o written.cfg",
        f"analyze machine {file} -o written.toml --json",
        f"analyze replay {trace} --machine {file}",
        f"analyze profile {trace} --machine {file} --json",
        f"analyze limits {trace} --machine {file} --quick --jobs 1",
        f"analyze monte-carlo {trace} --machine {file} --vary latency=1us..100us -n 2 --jobs 1",
        f"analyze sensitivity {trace} --machine {file} --factor speed --sweep buses --jobs 1",
        f"analyze what-if {trace} --machine {file} --jobs 1",
        f"analyze validate {trace} --against {trace} --machine {file}",
        f"analyze fit-machine {trace} --machine {file} --vary latency=1us..100us -n 2 --jobs 1",
    )


def of_a_table(file: str, trace: str) -> tuple[Line, ...]:
    """Every command that reads a table of experiments."""
    return lines(
        f"analyze table {file}",
        f"analyze table {file} --json",
        f"analyze table {trace} {file} -o joined.csv",
        f"analyze table {file} --where n>2 --column m=2*n -o again.xml",
        f"analyze table {file} --parameters region,n --per run --outliers deviation -o again.csv",
        f"analyze fit {file} --parameters n --json",
        f"analyze fit {file} --parameters n,begin --observable computing --terms {{n}},{{begin}} --weighting ordinary",
        f"analyze fit {file} --at 64",
        f"analyze fit {file} --terms {{n}},{{begin}} --search elimination",
        f"analyze fit {file} --formula c[0]+c[1]*n",
    )


def of_a_cfg(file: str, trace: str) -> tuple[Line, ...]:
    """Every way to show what a configuration of Paraver describes."""
    return lines(
        f"analyze views {trace} --cfg {file}",
        f"analyze views {trace} --cfg {file} --json",
        f"analyze view {trace} --cfg {file} --print",
        f"analyze views {trace} --cfg {file} --show profile --bins 5",
        f"analyze views {trace} --cfg {file} --show bursts --json",
        f"analyze views {trace} --cfg {file} --show rows -q",
    )


def of_a_view(file: str, trace: str) -> tuple[Line, ...]:
    """Every way to show a view."""
    return lines(
        f"analyze views {trace} --view {file}",
        f"analyze views {trace} --view {file} --json",
        f"analyze views {trace} --view {file} --show histogram --csv views.csv",
        f"analyze views {trace} --view {file} --show profile --picture views.png",
        f"analyze views {trace} --view {file} --show bursts --level thread",
        f"analyze views {trace} --view useful --by {file} --statistic integral --picture views.png",
        f"analyze view {trace} --draw {file} --print",
    )
