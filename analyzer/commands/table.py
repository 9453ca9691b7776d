"""All subcommands of `analyze`: the group that `--help` lists each in, where it is, and its line in that list.

A group is a folder of this package. Nothing is imported from it here: all commands together take a second.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A command: `place` is MODULE:NAME of its function in analyzer.commands; without a line it is not listed.

    `alone` says what one process does however many there are, where that is most of the work, or becomes most of it
    when `useful` processes share the rest; "": it does not.
    """

    place: str
    line: str
    alone: str = ""
    useful: int = 1

    def said_of(self, processes: int) -> str:
        """What to say to whoever starts so many; "": nothing."""
        if not self.alone or processes <= self.useful:
            return ""
        further = f"more than {self.useful}" if self.useful > 1 else "further"
        return f"{self.alone}; {further} processes hardly make it faster"


GROUPS: dict[str, tuple[str, dict[str, Entry]]] = {
    "look": ("Look", {
        "look": Entry("look.look:look", "", "one process joins the parts of the .prv", 8),
        "info": Entry("look.info:info", "The first look, without writing files."),
        "check": Entry("look.check:check", "Is the trace sound and complete?"),
        "what": Entry("look.what:what_command", "What a rank does at a moment.", "one process looks"),
        "view": Entry("look.view:view_command", "Ranks over time at any zoom, in a browser.", "one process serves"),
        "views": Entry("look.views:views_command", "What Paraver's windows and histograms show.", "one process looks"),
    }),
    "explain": ("Explain", {
        "report": Entry("explain.report:report_command", "One page of HTML that explains runs."),
        "efficiency": Entry("explain.efficiency:efficiency_command", "Parallel efficiency and its factors."),
        "structure": Entry("explain.structure:structure_command", "What the run is made of: iterations, phases."),
        "hot": Entry("explain.hot:hot_command", "In which functions and lines the run computes."),
        "waits": Entry(
            "explain.waits:waits_command", "Where ranks wait, and who makes them wait.",
            "one process adds up what delays cost", 4,
        ),
        "critical-path": Entry(
            "explain.critical_path:critical_path_command", "What determines the run's length, and who has slack.",
            "one process follows the path",
        ),
        "limits": Entry("explain.limits:limits_command", "What limits the run: network, load, or computation."),
        "diff": Entry("explain.diff:diff_command", "What changed between two runs, and whether it is noise."),
        "speedup": Entry("explain.speedup:speedup_command", "What more ranks gain, and what takes it away."),
        "clusters": Entry("explain.clusters:clusters_command", "Kinds of CPU bursts, by duration and counters."),
        "profile": Entry("explain.profile:profile_command", "How many threads compute at each instant."),
    }),
    "predict": ("Predict", {
        "replay": Entry(
            "predict.replay:replay_command", "What the run would do on another machine.", "one process replays"
        ),
        "predict": Entry("predict.speedup:predict_command", "Speedup at more ranks, and its worst factor there."),
        "representative": Entry(
            "predict.representative:representative_command", "The part that stands for all.", "each process reads all"
        ),
        "what-if": Entry("predict.what_if:what_if_command", "What faster computation in a region would gain."),
        "balance": Entry("predict.balance:balance_command", "Who should compute how much, and what that gains."),
        "sensitivity": Entry(
            "predict.sensitivity:sensitivity_command", "Which parameters of the machine matter, and how much."
        ),
        "monte-carlo": Entry(
            "predict.monte_carlo:monte_carlo", "How predicted times spread with the machine's parameters."
        ),
        "study": Entry(
            "predict.study:study_command", "How results of any program spread with its inputs.",
            "one process gives shots to hosts",
        ),
        "validate": Entry("predict.validate:validate_command", "Compare predictions from one run with another run."),
        "schedule": Entry(
            "predict.schedule:schedule_command", "What predicted run times buy on a cluster with a batch scheduler.",
            "one process simulates",
        ),
        "ring": Entry("predict.ring:ring", "Make a synthetic application: a message goes around a ring."),
    }),
    "model": ("Model", {
        "loggp": Entry("model.loggp:loggp", "Latency, overhead and gap of the network."),
        "fit": Entry("model.fit:fit_command", "A formula for measured times, and predictions.", "one process fits"),
        "fit-machine": Entry("model.fit_machine:fit_machine", "The machine on which replays take as long as runs did."),
        "machine": Entry(
            "model.machine:machine_command", "Print a machine, or turn a Dimemas .cfg into TOML and back."
        ),
        "table": Entry("model.table:table_command", "One table of the experiments of several runs."),
    }),
    "convert": ("Convert", {
        "prv": Entry("convert.prv:prv", "Write a Paraver trace.", "one process joins the parts of the file", 8),
        "dim": Entry("convert.dim:dim", "Write a Dimemas trace."),
        "cut": Entry("convert.cut:cut", "Write some iterations as a small run.", "one process writes the file", 4),
        "export": Entry(
            "convert.export:export_command", "Write a run for Perfetto, Chrome, as Parquet or OTF2.",
            "one process writes the file",
        ),
        "pack": Entry("convert.pack:pack", "Compress a run into one file.", "one process writes the file"),
    }),
}  # fmt: skip
"""Folder -> title, and its commands by name, in the order of `--help`."""

COMMANDS = {name: entry for _, commands in GROUPS.values() for name, entry in commands.items()}
"""All commands by name."""
