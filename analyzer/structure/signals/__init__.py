"""Signals of a run: quantities over time, evenly sampled, in which periods are sought."""

from analyzer.structure.signals.run_signals import NAMES, RunSignal, Signals, csv_signal, signals

__all__ = ["NAMES", "RunSignal", "Signals", "csv_signal", "signals"]
