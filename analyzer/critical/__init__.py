"""What determines how long a run takes: the path through its ranks that does, and how much all else could be slower."""

from __future__ import annotations

from analyzer.critical.path import CriticalPath, critical_path

__all__ = ["CriticalPath", "critical_path"]
