"""The critical path: the chain of activities that determines the length of a run, and the slack of all others."""

from __future__ import annotations

from analyzer.critical.path import CriticalPath, critical_path

__all__ = ["CriticalPath", "critical_path"]
