"""Where one-sided operations go if the processes of a window gave different displacement units."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import FIRST, WORLD, call, write_run

from analyzer.opening import open_trace
from analyzer.trace import Objects
from analyzer.trace.paraver import EventType
from tracelib.schema import ObjectKind, Peer

CREATE, DYNAMIC = 1, 3


def window(id: int, unit: int, *, comm: int = WORLD, flags: int = CREATE) -> tuple:
    """A row of `objects`."""
    return id, 0, 4096, comm, int(ObjectKind.WINDOW), unit, flags, b""


def access(enter: int, offset: int, *, object: int = 1, thread: int = 0) -> dict:
    """A row of `accesses`."""
    return {"enter": enter, "offset": offset, "object": object, "detail": 0, "thread": thread}


def put(enter: int, peer: int, *, comm: int = WORLD, thread: int = 0) -> dict:
    """A row of `calls`."""
    return call("MPI_Put", enter, enter + 5, comm=comm, peer=peer, sent=8, thread=thread)


def offsets(folder, ranks, communicators=()) -> list[list[int]]:
    """Return the offsets of each rank's accesses; its .prv has the same, but for unknown ones."""
    trace = open_trace(str(write_run(folder, ranks, communicators)))
    found = [
        [int(o) for block in trace.extra(Objects).accesses(rank) for o in block["offset"]] for rank in range(trace.size)
    ]
    events = trace.events()
    for rank, own in enumerate(found):
        shown = events["value"][(events["type"] == EventType.RMA_OFFSET) & (events["rank"] == rank)]
        assert sorted(shown.tolist()) == sorted(offset for offset in own if offset >= 0)
    return found


@settings(max_examples=8)
@given(
    units=st.lists(st.integers(1, 64), min_size=3, max_size=3),
    puts=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 50)), max_size=40),
)
def test_an_operation_goes_to_the_displacement_in_units_of_the_target(tmp_path_factory, units, puts):
    """The ranks of the communicator differ from the world's."""
    order = (2, 0, 1)  # world ranks of the window's
    ranks = [{"objects": [window(7, unit, comm=FIRST)], "calls": [], "accesses": []} for unit in units]
    true = [[], [], []]
    for at, (origin, target, displacement) in enumerate(puts):
        ranks[origin]["calls"].append(put(10 * at, target, comm=FIRST))
        ranks[origin]["accesses"].append(access(10 * at, displacement * units[origin]))
        true[origin].append(displacement * units[order[target]])
    assert offsets(tmp_path_factory.mktemp("run"), ranks, [order]) == true


@pytest.mark.parametrize(
    ("own", "targets", "peer"),
    [
        (window(7, 4), window(7, 4), 1),  # the same unit
        (window(0, 4), window(0, 8), 1),  # unknown windows
        (window(7, 4), window(8, 8), 1),  # another window
        (window(7, 4), window(7, 0), 1),  # a unit that is not known
        (window(7, 0), window(7, 8), 1),
        (window(7, 4), window(7, 8), 0),  # the target is oneself
        (window(7, 4), window(7, 8), Peer.NONE),
        (window(7, 4), window(7, 8), 2),  # no such rank
        (window(7, 1, flags=DYNAMIC), window(7, 8, flags=DYNAMIC), 1),  # addresses
    ],
)
def test_other_offsets_stay_as_they_are(tmp_path, own, targets, peer):
    ranks = [{"objects": [own], "calls": [put(10, peer)], "accesses": [access(10, 40)]}, {"objects": [targets]}]
    trace = open_trace(str(write_run(tmp_path, ranks)))
    assert [block["offset"].tolist() for block in trace.extra(Objects).accesses(0)] == [[40]]


def test_unknown_offsets_other_windows_and_other_threads(tmp_path):
    """Rank 0 has two windows, of units 1 and 8 and both 8; a second thread makes calls at the same times."""
    first = {
        "objects": [window(7, 1), window(8, 8)],
        "calls": [put(10, 1), put(20, 1), put(30, 1), put(10, 0, thread=1), put(20, 1, thread=1)],
        "accesses": [
            access(10, -1), access(20, 5), access(30, 16, object=2), access(10, 3, thread=1), access(20, 3, thread=1),
        ],
    }  # fmt: skip
    found = offsets(tmp_path, [first, {"objects": [window(7, 8), window(8, 8)]}])
    assert found == [[-1, 40, 16, 3, 24], []]


def test_a_target_whose_file_is_missing(tmp_path):
    """Its unit is not known; the others' units are."""
    puts = {"calls": [put(10, 1), put(20, 2)], "accesses": [access(10, 6), access(20, 6)]}
    ranks = [{"objects": [window(7, 1)]} | puts, {"objects": [window(7, 2)]}, {"objects": [window(7, 8)]}]
    trace = open_trace(str(write_run(tmp_path, ranks, missing=[2])))
    assert [block["offset"].tolist() for block in trace.extra(Objects).accesses(0)] == [[12, 6]]
