"""What varies over the time of a run, evenly sampled: the signals that a period is looked for in."""

from analyzer.structure.signals.run_signals import NAMES, Signal, Signals, csv_signal, signals

__all__ = ["NAMES", "Signal", "Signals", "csv_signal", "signals"]
