"""A command leaves the search for cycles as one does that keeps most of what it makes until it ends."""

import gc
import subprocess
import sys

from analyzer.process_memory import search_little_for_cycles


def test_the_oldest_objects_are_looked_at_rarely():
    before = gc.get_threshold()
    try:
        search_little_for_cycles()
        young, middle, oldest = gc.get_threshold()
        assert (young, middle) == before[:2]
        assert oldest >= 100
    finally:
        gc.set_threshold(*before)


def test_nothing_is_looked_at_once_more_when_the_process_ends():
    code = (
        "import atexit, gc; from analyzer.process_memory import search_little_for_cycles as search\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 1000)); search(); search()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
