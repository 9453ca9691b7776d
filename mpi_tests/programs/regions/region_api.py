"""Uses all that `tracelib` offers to a Python program, and notes it (see regions.c); MPI comes late, or not at all."""

import json
import sys
import threading
from contextlib import contextmanager

import tracelib

WITHOUT_MPI = len(sys.argv) > 1
LOADED = {"h5py", "click", "numpy", "cffi"} & set(sys.modules)
kept = threading.local()


def note(*values):
    kept.notes.append(values)


@contextmanager
def noted(name, **parameters):
    """A region with notes of its begin and end."""
    try:
        with tracelib.region(name, **parameters):
            note("begin", name)
            for key, value in parameters.items():
                note("integer" if isinstance(value, int) else "real", key, value)
            yield
    finally:
        note("end", name)


@tracelib.region("decorated", kind=1)
def decorated(depth):
    note("begin", "decorated")
    note("integer", "kind", 1)
    if depth:
        decorated(depth - 1)
    note("end", "decorated")
    return depth


def work(thread):
    kept.notes = []
    for i in range(700):
        with noted("outer", i=i, x=i / 8), noted("größer"):
            tracelib.event(1000 + thread, i - 5)
            note("event", 1000 + thread, i - 5)
    save(thread)


def save(thread):
    with open(f"notes-{rank}-{thread}.jsonl", "w") as file:  # noqa: PTH123
        file.writelines(json.dumps(n, ensure_ascii=False) + "\n" for n in kept.notes)


assert not LOADED, LOADED
kept.notes = []
rank = 0
with noted("before MPI"):
    assert decorated(3) == 3
if not WITHOUT_MPI:
    from mpi4py import MPI

    rank = MPI.COMM_WORLD.rank
with noted("solve", n=500, tolerance=1e-6):
    tracelib.parameter("m", 7)
    tracelib.parameter("y", 0.25)
    note("integer", "m", 7)
    note("real", "y", 0.25)
    tracelib.parallel(8)
    note("parallel", 8)
    tracelib.label_type(1000, "Step")
    tracelib.label_value(1000, 3, "third")
    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not WITHOUT_MPI:
        MPI.COMM_WORLD.Barrier()
try:
    with noted("fails"):
        raise KeyError
except KeyError:
    pass
with tracelib.region("odd values", text="no number", huge=2**2000):
    tracelib.event(-1, 1)
    tracelib.event("type", None)
note("begin", "odd values")
note("end", "odd values")
save(0)
