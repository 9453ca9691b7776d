"""Every function of threads on a trace of a few records, against values that a person counts."""

import numpy as np
import pytest
from view_trace import ViewTrace, burst_list, bursts_of

from analyzer.errors import TracelibError
from analyzer.trace import State
from analyzer.views import Filter, Function, View

RUNNING, WAITING = State.RUNNING, State.WAITING_MESSAGE
TYPE, OTHER = 777, 888

STATES = [(0, 10, 0, 0, RUNNING), (10, 30, 0, 0, WAITING), (40, 60, 0, 0, RUNNING)]
EVENTS = [(5, 4, TYPE, 0, 0), (20, 0, TYPE, 0, 0), (50, 6, OTHER, 0, 0)]

ONE_WINDOW, MANY = None, 7


@pytest.fixture(params=[ONE_WINDOW, MANY, 1])
def window(request):
    return request.param


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("useful", [(0, 10, 1), (10, 40, 0), (40, 60, 1), (60, 100, 0)]),
        ("state sign", [(0, 30, 1), (30, 40, 0), (40, 60, 1), (60, 100, 0)]),
        ("state as is", [(0, 10, 1), (10, 30, 3), (30, 40, 0), (40, 60, 1), (60, 100, 0)]),
        (("given state", "Waiting a message"), [(0, 10, 0), (10, 30, 3), (30, 100, 0)]),
        (("in state", 1, 3), [(0, 30, 1), (30, 40, 0), (40, 60, 1), (60, 100, 0)]),
        (("not in state", "Running"), [(0, 10, 0), (10, 30, 1), (30, 100, 0)]),
        (("state record duration", 3), [(0, 10, 0), (10, 30, 0.02), (30, 100, 0)]),
        ("state record duration", [(0, 10, 0.01), (10, 30, 0.02), (30, 40, 0), (40, 60, 0.02), (60, 100, 0)]),
    ],
)
def test_states(function, expected, window):
    assert bursts_of(ViewTrace(100, states=STATES, window=window), View(function)) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("last event value", [(0, 5, 0), (5, 20, 4), (20, 50, 0), (50, 100, 6)]),
        ("last event type", [(0, 5, 0), (5, 50, 777), (50, 100, 888)]),
        ("next event value", [(0, 5, 4), (5, 20, 0), (20, 50, 6), (50, 100, 0)]),
        ("next event type", [(0, 20, 777), (20, 50, 888), (50, 100, 0)]),
        # 1000 / us: 4 in 5 ns, 6 in 30 ns
        ("average next event value", [(0, 5, 800_000), (5, 20, 0), (20, 50, 200_000), (50, 100, 0)]),
        (("average next event value", 1), [(0, 5, 800), (5, 20, 0), (20, 50, 200), (50, 100, 0)]),
        (("average last event value", 15), [(0, 5, 0), (5, 20, 4000), (20, 100, 0)]),
        (("given event value", 6), [(0, 50, 0), (50, 100, 6)]),
        (("in event value", 4, 6), [(0, 5, 0), (5, 20, 1), (20, 50, 0), (50, 100, 1)]),
        (("not in event value", 4), [(0, 20, 0), (20, 100, 1)]),
        ("interval between events", [(0, 5, 0), (5, 20, 0.015), (20, 50, 0.03), (50, 100, 0)]),
    ],
)
def test_events(function, expected, window):
    found = bursts_of(ViewTrace(100, events=EVENTS, window=window), View(function))
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in expected])


# source, thread, destination, thread, size, tag, logical send, physical send, logical receive, physical receive
MESSAGES = [
    (0, 0, 1, 0, 100, 5, 10, 12, 15, 30),
    (0, 0, 1, 0, 60, 6, 20, 24, 40, 44),
    (1, 0, 0, 0, 7, 8, 50, 50, 20, 60),
]


@pytest.mark.parametrize(
    ("function", "row", "expected"),
    [
        ("last size", "1", [(0, 30, 0), (30, 44, 100), (44, 100, 60)]),
        ("last size", "0", [(0, 60, 0), (60, 100, 7)]),
        ("last tag", "1", [(0, 30, 0), (30, 44, 5), (44, 100, 6)]),
        ("last sent size", "0", [(0, 12, 0), (12, 24, 100), (24, 100, 60)]),
        ("last partner", "0", [(0, 12, 0), (12, 100, 2)]),
        ("last destination", "0", [(0, 12, 0), (12, 100, 2)]),
        ("last destination", "1", [(0, 50, 0), (50, 100, 1)]),
        ("next source", "1", [(0, 30, 0), (30, 44, 1), (44, 100, 0)]),
        ("next source", "0", [(0, 100, 0)]),
        ("last send duration", "0", [(0, 12, 0), (12, 24, 0.002), (24, 100, 0.004)]),
        ("last receive duration", "1", [(0, 30, 0), (30, 44, 0.015), (44, 100, 0.004)]),
        ("bytes in flight", "0", [(0, 12, 0), (12, 24, 100), (24, 30, 160), (30, 44, 60), (44, 100, 0)]),
        ("messages in flight", "0", [(0, 12, 0), (12, 24, 1), (24, 30, 2), (30, 44, 1), (44, 100, 0)]),
        ("bytes coming in", "1", [(0, 12, 0), (12, 24, 100), (24, 30, 160), (30, 44, 60), (44, 100, 0)]),
        ("messages coming in", "0", [(0, 50, 0), (50, 60, 1), (60, 100, 0)]),
        # 100 bytes in 18 ns, 60 in 20 ns; MB/s are bytes/us, kept as whole bytes/s
        ("send bandwidth", "0",
         [(0, 12, 0), (12, 24, 5555.555556), (24, 30, 8555.555556), (30, 44, 3000), (44, 100, 0)]),
        ("receive bandwidth", "0", [(0, 50, 0), (50, 60, 700), (60, 100, 0)]),
        ("sends queued", "0", [(0, 10, 0), (10, 12, 1), (12, 20, 0), (20, 24, 1), (24, 100, 0)]),
        ("receives posted", "1", [(0, 15, 0), (15, 30, 1), (30, 40, 0), (40, 44, 1), (44, 100, 0)]),
        ("messages unexpected", "1", [(0, 12, 0), (12, 15, 1), (15, 24, 0), (24, 40, 1), (40, 100, 0)]),
        ("bytes unexpected", "1", [(0, 12, 0), (12, 15, 100), (15, 24, 0), (24, 40, 60), (40, 100, 0)]),
    ],
)  # fmt: skip
def test_messages(function, row, expected, window):
    trace = ViewTrace(100, threads=(1, 1), messages=MESSAGES, window=window)
    found = burst_list(trace, View(function))[row]
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in expected])


@pytest.mark.parametrize(
    ("function", "row", "expected"),
    [
        ("receives between events", "1", [(0, 30, 0), (30, 50, 2), (50, 100, 0)]),
        ("received bytes between events", "1", [(0, 30, 0), (30, 50, 160), (50, 100, 0)]),
        ("receive bandwidth between events", "1", [(0, 30, 0), (30, 50, 8000), (50, 100, 0)]),
        ("sends between events", "0", [(0, 20, 1), (20, 70, 1), (70, 100, 0)]),
        ("sent bytes between events", "0", [(0, 20, 100), (20, 70, 60), (70, 100, 0)]),
        ("send bandwidth between events", "0", [(0, 20, 5000), (20, 70, 1200), (70, 100, 0)]),
    ],
)
def test_messages_between_events(function, row, expected, window):
    events = [(20, 1, TYPE, 0, 0), (70, 1, TYPE, 0, 0), (30, 1, TYPE, 1, 0), (50, 1, TYPE, 1, 0)]
    trace = ViewTrace(100, threads=(1, 1), messages=MESSAGES, events=events, window=window)
    found = burst_list(trace, View(function))[row]
    merged = [one for k, one in enumerate(expected) if not k or one[2] != expected[k - 1][2]]
    ends = [one[0] for one in merged[1:]] + [100]
    assert found == [(one[0], end, one[2]) for one, end in zip(merged, ends, strict=True)]


def test_a_message_that_arrives_before_it_is_sent_is_never_on_its_way():
    trace = ViewTrace(100, threads=(1, 1), messages=[(0, 0, 1, 0, 100, 5, 50, 50, 20, 40)], window=10)
    assert burst_list(trace, View("bytes in flight")) == {"0": [(0, 100, 0)], "1": [(0, 100, 0)]}
    assert burst_list(trace, View("last size"))["1"] == [(0, 40, 0), (40, 100, 100)]


CALLS = [
    [("MPI_Send", 10, 20, {"peer": 1, "sent": 100, "tag": 5}), ("MPI_Barrier", 30, 60, {"comm": 0})],
    [("MPI_Recv", 5, 25, {"peer": 0, "received": 100, "tag": 5}), ("MPI_Barrier", 50, 60, {"comm": 0})],
]


@pytest.mark.parametrize(
    ("function", "row", "expected"),
    [
        ("in call", "0", [(0, 10, 0), (10, 20, 1), (20, 30, 0), (30, 60, 1), (60, 100, 0)]),
        ("call", "0", [(0, 10, 0), (10, 20, 3), (20, 30, 0), (30, 60, 1), (60, 100, 0)]),
        ("call duration", "1", [(0, 5, 0), (5, 25, 0.02), (25, 50, 0), (50, 60, 0.01), (60, 100, 0)]),
        ("call bytes", "0", [(0, 10, 0), (10, 20, 100), (20, 100, 0)]),
        ("call sent bytes", "1", [(0, 100, 0)]),
        ("call received bytes", "1", [(0, 5, 0), (5, 25, 100), (25, 100, 0)]),
        ("call peer", "0", [(0, 10, 0), (10, 20, 2), (20, 100, 0)]),
    ],
)
def test_calls(function, row, expected, window):
    trace = ViewTrace(100, threads=(1, 1), calls=CALLS, window=window)
    assert burst_list(trace, View(function))[row] == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("thread id", [1, 1, 2]),
        ("thread number", [1, 2, 3]),
        ("task id", [1, 2, 2]),
        ("application id", [1, 1, 1]),
        ("node id", [1, 2, 2]),
        ("cpu id", [1, 2, 1]),
    ],
)
def test_objects(function, expected):
    states = [(0, 10, 0, 0, 1), (0, 10, 1, 0, 1), (50, 60, 1, 1, 1)]
    cpu_of = {(0, 0): 4, (1, 0): 5, (1, 1): 4}
    trace = ViewTrace(100, threads=(1, 2), states=states, nodes=("a", "b"), node_of=[0, 1], cpu_of=cpu_of, window=20)
    found = burst_list(trace, View(function))
    assert list(found.values()) == [[(0, 100, value)] for value in expected]


def test_functions_of_the_user():
    trace = ViewTrace(100, states=STATES, events=EVENTS, calls=CALLS[:1], window=7)
    double = Function("double", ("events",), lambda rows: 2.0 * rows["value"])
    assert bursts_of(trace, View(double)) == [(0, 5, 0), (5, 20, 8), (20, 50, 0), (50, 100, 12)]
    assert bursts_of(trace, View(lambda rows: rows["state"] == WAITING)) == [(0, 10, 0), (10, 30, 1), (30, 100, 0)]
    sent = Function("sent", ("calls",), lambda rows: rows["sent"])
    assert bursts_of(trace, View(sent)) == [(0, 10, 0), (10, 20, 100), (20, 100, 0)]
    trace = ViewTrace(100, threads=(1, 1), messages=MESSAGES)
    tag = Function("tag", ("receives",), lambda rows: rows["tag"])
    assert burst_list(trace, View(tag))["1"] == [(0, 30, 0), (30, 44, 5), (44, 100, 6)]
    with pytest.raises(TracelibError, match=r"gave \(2,\) values for"):
        burst_list(trace, View(Function("wrong", ("sends",), lambda rows: np.zeros(2))))


def test_an_unknown_function_is_told_with_names_that_are_alike():
    with pytest.raises(TracelibError, match="there is no thread function 'usefull'") as error:
        burst_list(ViewTrace(100), View("usefull"))
    assert "'useful'" in error.value.hint


def test_filters_of_messages():
    trace = ViewTrace(100, threads=(1, 1), messages=MESSAGES)

    def sizes(**wanted):
        return burst_list(trace, View("last size", filter=Filter(**wanted)))

    nothing = [(0, 100, 0)]
    assert sizes(source="0") == {"0": nothing, "1": [(0, 30, 0), (30, 44, 100), (44, 100, 60)]}
    assert sizes(destination="0")["1"] == nothing
    assert sizes(size=">=64")["1"] == [(0, 30, 0), (30, 100, 100)]
    assert sizes(tag=(6,))["1"] == [(0, 44, 0), (44, 100, 60)]
    assert sizes(tag="!6")["1"] == [(0, 30, 0), (30, 100, 100)]


def test_logical_times_of_messages():
    """Sent when the call is entered, received when it was and the data are there: of the second the receive is late."""
    late = (0, 0, 1, 0, 60, 6, 40, 44, 70, 50)
    trace = ViewTrace(100, threads=(1, 1), messages=[MESSAGES[0], late])

    def of(function):
        return burst_list(trace, View(function, filter=Filter(logical=True)))

    assert of("last sent size")["0"] == [(0, 10, 0), (10, 40, 100), (40, 100, 60)]
    assert of("last size")["1"] == [(0, 30, 0), (30, 70, 100), (70, 100, 60)]
    assert of("bytes in flight")["0"] == [(0, 10, 0), (10, 30, 100), (30, 40, 0), (40, 70, 60), (70, 100, 0)]


def test_filters_of_events():
    trace = ViewTrace(100, events=EVENTS)
    trace.event_labels = {TYPE: ("Phase", {4: "assembly"})}

    def values(**wanted):
        return bursts_of(trace, View("last event value", filter=Filter(**wanted)))

    assert values(types=TYPE) == [(0, 5, 0), (5, 20, 4), (20, 100, 0)]
    assert values(types="phase") == values(types=TYPE)
    assert values(values=">=1") == [(0, 5, 0), (5, 50, 4), (50, 100, 6)]
    assert values(types="Phase", values="assembly") == [(0, 5, 0), (5, 100, 4)]
    with pytest.raises(TracelibError, match="no event type 'Phases'"):
        values(types="Phases")
    with pytest.raises(TracelibError, match="no value 'solver'"):
        values(types=TYPE, values=("solver",))


def test_filters_of_calls():
    trace = ViewTrace(100, threads=(1, 1), calls=CALLS)

    def inside(**wanted):
        return burst_list(trace, View("in call", filter=Filter(**wanted)))["0"]

    assert inside(calls="MPI_Send") == inside(calls="point to point") == [(0, 10, 0), (10, 20, 1), (20, 100, 0)]
    assert inside(calls="collective") == [(0, 30, 0), (30, 60, 1), (60, 100, 0)]
    assert inside(communicators="MPI_COMM_WORLD") == inside(calls="collective")
    assert inside(size=">=1") == inside(peer=1) == inside(tag=5) == inside(calls="MPI_Send")
    with pytest.raises(TracelibError, match="no communicator 'MINE'"):
        inside(communicators="MINE")


def test_states_are_never_filtered():
    trace = ViewTrace(100, states=STATES)
    everything = Filter(source="5", types=1, calls="MPI_Send", values="9")
    assert bursts_of(trace, View("useful", filter=everything)) == bursts_of(trace, View("useful"))


AT_EVENTS = [(time, 1, TYPE, 1, 0) for time in (20, 30, 44, 50, 60)] + [(time, 1, TYPE, 0, 0) for time in (5, 20, 50)]


@pytest.mark.parametrize(
    ("function", "row", "expected"),
    [
        ("event bytes", "0", [(0, 5, 0), (5, 20, 100), (20, 50, 60), (50, 100, 0)]),
        ("event bytes", "1", [(0, 20, 0), (20, 30, 100), (30, 44, 60), (44, 50, 0), (50, 60, 7), (60, 100, 0)]),
        ("event sent bytes", "1", [(0, 50, 0), (50, 60, 7), (60, 100, 0)]),
    ],
)
def test_bytes_of_events(function, row, expected, window):
    """Bytes received at an event belong to the time before it, bytes sent then to the time behind it.

    Nothing is known before the first event and behind the last one.
    """
    of = ViewTrace(100, events=AT_EVENTS, messages=MESSAGES, threads=(1, 1), window=window)
    assert burst_list(of, View(function))[row] == expected


def test_messages_that_come_before_they_are_sent(window):
    """By clocks that disagree: received at 30, sent at 50."""
    message = (0, 0, 1, 0, 8, 1, 50, 50, 20, 30)
    of = ViewTrace(100, messages=[*MESSAGES, message], threads=(1, 1), window=window)
    assert burst_list(of, View("negative messages"))["1"] == [(0, 30, 0), (30, 50, 1), (50, 100, 0)]
    assert burst_list(of, View("negative bytes"))["1"] == [(0, 30, 0), (30, 50, 8), (50, 100, 0)]
