"""What costs a run most: results of analyses in, findings on one scale out."""

from analyzer.findings.find import find
from analyzer.findings.finding import FACTORS, Evidence, Finding, Kind, Sure

__all__ = ["FACTORS", "Evidence", "Finding", "Kind", "Sure", "find"]
