"""The schedule of TRACELIB_ROTATE=file:PATH against a second reading of its grammar, and its mistakes by hand."""

import ctypes

import compiled
import pytest
from hypothesis import given
from hypothesis import strategies as st

NEVER_NS, NEVER = 2**63 - 1, 2**64 - 1


class Turns(ctypes.Structure):
    """`struct turns`."""

    _fields_ = [("n", ctypes.c_uint), ("current", ctypes.c_uint), ("turn", ctypes.c_void_p)]


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """read(text, rank, places): place(elapsed_ns, collectives) of that rank, or the number of a wrong line and why."""
    library = compiled.library(
        tmp_path_factory.mktemp("turns"),
        "counters/turns.c",
        "clock/schedule.c",
        "common/time_text.c",
        "common/user_message.c",
        "common/signals.c",
    )
    library.turns_place.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64]

    def read(text, rank, places):
        turns, line, why = Turns(), ctypes.c_uint(), ctypes.c_char_p()
        array = (ctypes.c_int * len(places))(*places)
        good = library.turns_read(
            ctypes.byref(turns), text.encode(), rank, array, len(places), ctypes.byref(line), ctypes.byref(why)
        )
        if not good & 0xFF:
            return line.value, why.value.decode()
        return lambda ns, collectives: library.turns_place(ctypes.byref(turns), ns, collectives)

    return read


RANKS = st.one_of(st.none(), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=3))
LINES = st.tuples(RANKS, st.sampled_from(["start", "ms", "collectives"]), st.integers(1, 50), st.integers(1, 3))


def written(ranks, kind, amount, number) -> str:
    """A line of the file."""
    who = "*" if ranks is None else ",".join(f"{a}-{a + more}" if more else str(a) for a, more in ranks)
    moment = {"start": "start", "ms": f"{amount}ms", "collectives": f"collectives:{amount}"}[kind]
    return f"  {who}\t{moment}  {number} # of {who}"


@given(
    st.lists(LINES, max_size=8),
    st.integers(0, 7),
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10)), max_size=20),
    st.sampled_from([[0, 1, 2], [0, -1, 1], [-1, 0, -1]]),
)
def test_of_the_turns_that_have_come_the_last_in_the_file_counts(read, lines, rank, steps, places):
    text = "# a schedule\n\n" + "\n".join(written(*line) for line in lines)
    place = read(text, rank, places)
    ns = collectives = 0
    for more_ns, more in steps:
        ns, collectives = ns + more_ns, collectives + more
        expected = 0
        for ranks, kind, amount, number in lines:
            mine = ranks is None or any(a <= rank <= a + b for a, b in ranks)
            come = kind == "start" or (ns >= amount * 10**6 if kind == "ms" else collectives >= amount)
            if mine and come and places[number - 1] >= 0:
                expected = places[number - 1]
        assert place(ns, collectives) == expected


@pytest.mark.parametrize(
    "line,why",
    [
        ("all 1s 1", "does not begin with ranks"),
        ("3-1 1s 1", "does not begin with ranks"),
        ("1, 1s 1", "does not begin with ranks"),
        ("-1 1s 1", "does not begin with ranks"),
        ("* 1", "has no moment"),
        ("* soon 1", "has no moment"),
        ("* collectives:0 1", "has no moment"),
        ("* 1s", "has no number of a set"),
        ("* 1s 4", "has no number of a set"),
        ("* 1s 0", "has no number of a set"),
        ("* 1s 1 2", "has more than"),
        ("7 1s", "has no number of a set"),  # also of another rank
    ],
)
def test_a_wrong_line_is_named_by_its_number(read, line, why):
    number, said = read(f"* start 1\n\n{line}\n* nonsense\n", 0, [0, 1, 2])
    assert number == 3
    assert said.startswith(why)


def test_an_empty_file_leaves_the_first_set(read):
    assert read("", 0, [0, 1])(10**12, 10**6) == 0
