"""Latency and bandwidth from traces whose network is planted, with everything that makes messages look slow."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from planted_network import LATENCY_NS, NS_PER_BYTE, SEND_NS, Planted, both_ways, nodes

from analyzer.loggp.fastest import BATCHES, NEVER, FastestMessages
from analyzer.loggp.observed import ENOUGH, observe
from analyzer.parallel import Team
from analyzer.trace import NodeClock


@pytest.mark.parametrize("window", [None, 150_000, 20_000_000])
def test_the_planted_network_is_found(window):
    ways = observe(both_ways(Planted()).trace(window=window), Team())
    assert [w.where for w in ways] == ["intra"]
    (way,) = ways
    assert (way.messages, way.waited, way.used, way.backwards, way.clock_error_s) == (192, 192, 192, 0, 0)
    assert [(c.from_bytes, c.to_bytes, c.used, c.size_bytes) for c in way.classes] == [
        (8, 15, 64, 8), (4096, 8191, 64, 4096), (1 << 20, (1 << 21) - 1, 64, 1 << 20),
    ]  # fmt: skip
    small, middle, large = way.classes
    assert small.time.value == pytest.approx((LATENCY_NS + 2) / 1e9)
    assert small.time.low == small.time.value <= small.time.high <= small.time.value + 51e-9
    assert way.smallest is small
    assert small.bandwidth is None
    assert middle.bandwidth.value == pytest.approx(1e9 / NS_PER_BYTE, rel=1e-3)
    assert large.bandwidth.value == pytest.approx(1e9 / NS_PER_BYTE, rel=1e-5)
    assert large.bandwidth.low <= large.bandwidth.value <= large.bandwidth.high
    assert [c.overhead.value for c in way.classes] == pytest.approx(
        [(SEND_NS + s // 10) / 1e9 for s in (8, 4096, 2**20)]
    )
    assert {c.trust for c in way.classes} == {"good"}


def test_late_receivers_and_those_that_compute_say_nothing():
    """Whoever asks late gets the message at once: it must not look like a fast network, nor like a slow one."""
    planted = both_ways(Planted())
    for _ in range(100):
        planted.send(0, 1, 8, posts_first=False, slower_ns=-500)
        planted.send(1, 0, 8, waits=False, slower_ns=700)
    (way,) = observe(planted.trace(), Team())
    assert (way.messages, way.waited, way.used) == (392, 192, 192)
    assert way.smallest.time.value == pytest.approx((LATENCY_NS + 2) / 1e9)


@pytest.mark.parametrize(("late_ns", "trust"), [(100, "good"), (700, "rough"), (1400, None)])
def test_receivers_that_are_a_little_late_make_it_less_sure(late_ns, trust):
    """The way took 2002 ns, of which the receiver waited all but the first `late_ns`: it may be as short as that."""
    planted = Planted()
    for _ in range(64):
        planted.send(0, 1, 8, posts_first=False, posted_ns=late_ns)
    (way,) = observe(planted.trace(), Team())
    (only,) = way.classes
    if trust is None:
        assert (only.used, only.time, only.trust, only.reason) == (0, None, "no", "no receiver waited")
        return
    assert (way.waited, only.used, only.trust) == (0, 64, trust)
    assert only.reason == ("" if trust == "good" else "late receivers")
    assert only.time.value == pytest.approx(2002e-9)
    assert only.time.low == pytest.approx((2002 - late_ns) / 1e9)


def test_where_enough_receivers_waited_the_late_ones_do_not_count():
    planted = Planted()
    for _ in range(ENOUGH):
        planted.send(0, 1, 8)
        planted.send(1, 0, 8, posts_first=False, posted_ns=500)
    (way,) = observe(planted.trace(), Team())
    assert (way.waited, way.used, way.messages) == (ENOUGH, ENOUGH, 2 * ENOUGH)
    assert way.smallest.time.low == pytest.approx(2002e-9)


def test_one_message_less_than_enough_is_not_trusted():
    for number, trust in ((ENOUGH - 1, "no"), (ENOUGH, "good")):
        planted = Planted()
        for _ in range(number):
            planted.send(0, 1, 100)
        (way,) = observe(planted.trace(), Team())
        assert (way.classes[0].used, way.classes[0].trust) == (number, trust)
        assert ("too few" in way.classes[0].reason) == (trust == "no")
        assert (way.smallest is None) == (trust == "no")


def test_times_that_scatter_are_not_trusted():
    planted = Planted()
    for k in range(64):
        planted.send(0, 1, 8, slower_ns=int(2500 * 1.2**k) if k else 0)
    (way,) = observe(planted.trace(), Team())
    assert (way.classes[0].trust, way.classes[0].reason) == ("no", "scatter")


def test_what_clocks_are_apart_cancels_where_messages_went_both_ways():
    way = nodes(ahead=1500, accuracy=20)
    assert way.classes[0].time.value == pytest.approx((LATENCY_NS + 2) / 1e9)
    assert way.clock_error_s == pytest.approx(40e-9)
    assert way.classes[0].time.low == pytest.approx((LATENCY_NS + 2 - 40) / 1e9)


def test_clocks_as_far_apart_as_they_may_be_hide_no_waiting_receiver():
    """Posted 100 ns before the message is sent, by the clocks 200 ns after: within what the file says of them."""
    way = nodes(ahead=300, accuracy=200, posted_ns=100)
    assert (way.waited, way.used) == (128, 128)
    assert way.classes[0].time.value == pytest.approx((LATENCY_NS + 2) / 1e9)
    assert nodes(ahead=300, accuracy=50, posted_ns=100).used == 64


def test_one_direction_is_as_good_as_the_clocks():
    way = nodes(ahead=300, accuracy=200, one_way=True)
    assert way.classes[0].time.value == pytest.approx((LATENCY_NS + 2 + 300) / 1e9)
    assert way.classes[0].time.low <= (LATENCY_NS + 2) / 1e9 <= way.classes[0].time.high
    assert (way.classes[0].trust, way.classes[0].reason) == ("rough", "clocks")


def test_an_error_is_never_more_than_its_bound():
    assert nodes(ahead=0, accuracy=500, bound=600).clock_error_s == pytest.approx(600e-9)


def test_messages_that_arrive_before_they_leave_show_the_clocks_error():
    """The file says 10 ns, the messages 3 us: the truth lies in the range given all the same."""
    way = nodes(ahead=-5000, accuracy=10)
    assert (way.backwards, way.used) == (64, 128)
    assert way.clock_error_s == pytest.approx(2998e-9)
    assert way.classes[0].time.value == pytest.approx((LATENCY_NS + 2) / 1e9)
    assert way.classes[0].trust == "no"


def test_clocks_that_nobody_knows_are_not_trusted():
    way = nodes(ahead=0, accuracy=None)
    assert way.clock_error_s is None
    assert (way.classes[0].trust, way.classes[0].time.high) == ("no", math.inf)
    planted = both_ways(Planted(nodes=(0, 1)))
    trace = planted.trace()
    trace.origin = replace(trace.origin, imported=True)
    (way,) = observe(trace, Team())
    assert way.clock_error_s is None


def test_nodes_and_ways_are_kept_apart():
    planted = Planted(nodes=(0, 0, 1), ahead_ns=(0, 0, 0))
    planted.many(0, 1, 8, 64)
    for _ in range(40):
        planted.send(1, 2, 8, slower_ns=50_000)
        planted.send(2, 1, 8, slower_ns=50_000)
    intra, inter = observe(planted.trace(clocks=(NodeClock((2,), 0, 0.0, 5, 50, 2),)), Team())
    assert (intra.where, intra.messages, inter.where, inter.messages) == ("intra", 64, "inter", 80)
    assert intra.smallest.time.value == pytest.approx(2002e-9)
    assert inter.smallest.time.value == pytest.approx(52002e-9)


def test_a_trace_without_messages():
    assert observe(MemoryTrace([[]]), Team()) == ()


class Half(Team):
    """One of two members that meet afterwards."""

    size = 2

    def __init__(self, rank, met):
        self.rank, self.met = rank, met

    def allgather(self, value):
        self.met[self.rank] = value
        return [self.met[r] for r in sorted(self.met)]


def test_a_team_finds_what_one_finds():
    planted = both_ways(Planted())
    for _ in range(20):
        planted.send(0, 1, 8, waits=False)
    met = {}
    observe(planted.trace(window=300_000), Half(0, met))
    assert observe(planted.trace(window=300_000), Half(1, met)) == observe(planted.trace(), Team())


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2**62), st.integers(0, 99), st.integers(-50, 50)), max_size=60
    ),
    st.integers(0, 60),
)
def test_the_fastest_in_any_two_parts(rows, cut):
    """Against a list; splitting the messages among two that meet afterwards changes nothing."""
    table = np.array(rows, np.int64).reshape(-1, 4)
    parts = [FastestMessages(), FastestMessages()]
    for part, chosen in zip(parts, (table[:cut], table[cut:]), strict=True):
        part.add(*chosen.T)
    parts[0].take(parts[1])
    whole = parts[0]
    assert whole.kinds() == sorted({row[0] for row in rows})
    for kind in whole.kinds():
        own = [(time, size) for k, _, size, time in rows if k == kind]
        assert whole.count(kind) == len(own)
        assert (int(whole.times_ns(kind).min()), whole.size(kind)) == min(own)
        found = [int(t) for t in whole.times_ns(kind) if t != NEVER]
        assert set(found) <= {time for time, _ in own}
        assert len(found) <= min(BATCHES, len(own))


@pytest.mark.parametrize("window", [2_000, 7_000, 150_000])
def test_windows_do_not_matter(window):
    """A receive that begins in another window than the message was sent in counts as it does in one window."""
    planted = both_ways(Planted())
    for late_ns in range(100, 1000, 15):
        planted.send(0, 1, 8, posts_first=False, posted_ns=late_ns)
        planted.send(1, 0, 4096, posts_first=False, posted_ns=late_ns)
    assert observe(planted.trace(window=window), Team()) == observe(planted.trace(), Team())
