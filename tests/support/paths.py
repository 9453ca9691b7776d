"""Where things are, seen from any test."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DATA = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared" / "data"
"""Traces and studies with known answers, if they are there."""
EPOCH = SHARED / "epoch"
