"""Results of Dimemas 5.5.0 for four runs of the NAS benchmarks on nine machines, against our replay's."""

from dataclasses import replace

import pytest
from paths import DOCS, SHARED

from analyzer.machine.options import read_machine
from analyzer.opening import open_trace
from analyzer.replay import program_of, simulate
from benchmarks.dimemas import compare, table

DATA = SHARED / "dimemas"
OVERTAKEN = {("cg", "bandwidth"), ("cg", "lat5")}
"""Where messages with the same tag that Dimemas received out of order make more than 0.1 %."""


@pytest.fixture(scope="module")
def rows():
    if not DATA.is_dir():
        pytest.skip("the predictions of Dimemas are not here")
    return list(compare(DATA))


def test_all_execution_times_agree(rows):
    """Dimemas keeps fractions of ns, we round each transfer."""
    assert len(rows) == 36
    assert max(abs(row.off) for row in rows) < 1e-5
    assert sum(row.by_arrival_ns == row.dimemas_ns for row in rows) >= 8


def test_computation_and_receives_agree(rows):
    """Each task agrees in computation, but for halves of ns of bursts, and in receives that found their message."""
    for row in rows:
        assert row.computation_off_ns <= (1500 if row.machine == "bus1slow" else 0)
        assert row.found_off <= 2


@pytest.mark.parametrize(
    "trace, machine, eager_limit, dimemas_ns",
    [
        ("mgW", "mgW_one_cpu_for_two", 32 << 10, 197737527),
        ("mgW", "one_cpu_for_two", 1 << 10, 197706835),
        ("mg", "bus2", 0, 53566901),
        ("mg", "bus2", 1 << 10, 53629516),
        ("mg", "one_cpu_for_two", 1 << 10, 64666443),
        ("mg", "link1", 0, 34049592),
        ("mg", "two_a_node", 0, 38815551),
    ],
)
def test_messages_in_rendezvous_that_wait_for_links(trace, machine, eager_limit, dimemas_ns):
    """Dimemas 5.5.0 printed these times with -S: its senders wait for their receives, not for links."""
    if not DATA.is_dir():
        pytest.skip("the predictions of Dimemas are not here")
    program = program_of(open_trace(str(DATA / f"{trace}.dim.gz")))
    target = read_machine(str(DATA / f"{machine}.cfg")).machine
    found = simulate(program, replace(target, eager_limit=eager_limit, matching="arrival"))
    assert found.end_ns == pytest.approx(dimemas_ns, rel=1e-5)


def test_messages_received_as_sent_differ_where_some_overtake(rows):
    """By default our replay has none of this: MPI receives messages of one sender and tag in their order."""
    beyond = {(row.trace, row.machine) for row in rows if abs(row.ours_ns / row.dimemas_ns - 1) > 1e-3}
    assert beyond == OVERTAKEN


def test_the_page_has_the_table(rows):
    """But for the time that each took."""
    page = (DOCS / "dimemas.md").read_text()
    for line in table(rows).splitlines()[2:]:
        assert line[: line.rstrip(" |").rindex("|")] in page
