"""Where a network changes its behaviour: sizes between which one straight line holds.

Each file is a way to find them, or a step of one (Rodriguez 2011, section 3.3.2); `detectors` offers them by name.
"""
