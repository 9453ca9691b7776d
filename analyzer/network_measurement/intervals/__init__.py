"""Intervals of message sizes in which a straight line describes the network. Between them its behaviour changes.

Each file is a way to find intervals, or a step of one (Rodriguez 2011, section 3.3.2). `detectors` offers them by name.
"""
