"""Intervals of sizes in which one straight line holds; between them a network changes its behaviour.

Each file is a way to find them, or a step of one (Rodriguez 2011, section 3.3.2); `detectors` offers them by name.
"""
