"""Views of a run: one number over time for each thread, rank, node or the whole application.

This is the semantic machinery of Paraver ("Dimemas specification", section 1.16.2). Records are filtered, a thread
function makes a value of each thread at each time, level functions combine the threads of a row, and compose functions
change the result. All data are columns of numpy, window by window. docs/views.md describes views for users.
"""

from analyzer.views.api import bursts, histogram, measures, profile
from analyzer.views.filters import Filter, Numbers
from analyzer.views.function import Function
from analyzer.views.lanes import Level
from analyzer.views.run import ViewRun
from analyzer.views.tabulated import Columns
from analyzer.views.view import Derived, View
from analyzer.views.view_file import library

__all__ = [
    "Columns",
    "Derived",
    "Filter",
    "Function",
    "Level",
    "Numbers",
    "View",
    "ViewRun",
    "bursts",
    "histogram",
    "library",
    "measures",
    "profile",
]
