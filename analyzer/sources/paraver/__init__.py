"""Paraver traces (.prv, .pcf, .row), ours and those of other tools, as a `Trace`."""
