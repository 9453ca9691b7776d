"""Views of a run: one number over time for each thread, rank, node or the whole application.

The semantic machinery of Paraver ("Dimemas specification", section 1.16.2): records are filtered, a function makes a
value of each thread at each time, other functions put threads together and change the result. All of it is columns of
numpy, window by window. docs/views.md is the user's side.
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
