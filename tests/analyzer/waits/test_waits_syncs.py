"""When two threads were last in step: against looking through all rows before a question."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.waits.synchronization import MEMBER, MESSAGE, QUESTION, SYNC, LastSyncs

LANES, COMMS_KEPT = 4, 32
LANE = st.integers(0, LANES - 1)
ROWS = st.lists(
    st.tuples(st.sampled_from([MESSAGE, MEMBER, MEMBER, QUESTION]), LANE, LANE, st.integers(0, 5), st.integers(0, 9)),
    max_size=60,
)
STARTS = st.lists(st.integers(-3, 0), min_size=LANES, max_size=LANES)


def sync_rows(steps):
    """SYNC of (what, lane, other, comm, ns by which the other one went on later), in order of time."""
    rows = np.zeros(len(steps), SYNC)
    for number, (row, (what, lane, other, comm, later)) in enumerate(zip(rows, steps, strict=True)):
        other = other if lane != other else (lane + 1) % LANES
        row["lane"], row["other"], row["comm"], row["what"] = lane, other, comm, what
        row["time"], row["other_time"] = 10 * number, 10 * number + later
        row["key"] = max(row["time"], row["other_time"])
    return rows


def last_in_step(before, lane, other, starts):
    """The definition: by a message, or by the last collective of both on a communicator, when the first went on."""
    pair = {lane, other}
    found = [min(starts[lane], starts[other])]
    for row in before:
        if row["what"] == MESSAGE and {int(row["lane"]), int(row["other"])} == pair:
            found.append(min(int(row["time"]), int(row["other_time"])))
    left = {(int(row["lane"]), int(row["comm"])): int(row["time"]) for row in before if row["what"] == MEMBER}
    comms = {comm for _, comm in left}
    found += [min(left[lane, c], left[other, c]) for c in comms if (lane, c) in left and (other, c) in left]
    return max(found)


@settings(max_examples=150)
@given(ROWS, STARTS)
def test_random_rows(steps, starts):
    rows = sync_rows(steps)
    order = np.lexsort((-rows["what"], rows["key"]))
    questions = [k for k in order.tolist() if rows["what"][k] == QUESTION]
    expected = []
    for k in questions:
        before = rows[order[: order.tolist().index(k)]]
        expected.append(last_in_step(before, int(rows["lane"][k]), int(rows["other"][k]), starts))
    last = LastSyncs(np.array(starts))
    half = len(order) // 2
    parts = [last.feed(rows[np.sort(order[:half])]), last.feed(rows[np.sort(order[half:])])]
    assert np.concatenate(parts)["time"].tolist() == expected


def test_more_pairs_than_there_was_room_for():
    """A hundred lanes, each in step with all others at another time."""
    lanes = 100
    pairs = [(a, b) for a in range(lanes) for b in range(a)]
    rows = np.zeros(len(pairs), SYNC)
    rows["lane"], rows["other"] = np.array(pairs).T
    rows["key"] = rows["time"] = rows["other_time"] = np.arange(1, len(pairs) + 1)
    last = LastSyncs(np.zeros(lanes, np.int64))
    assert len(last.feed(rows)) == 0
    questions = rows.copy()
    questions["what"], questions["lane"], questions["other"] = QUESTION, rows["other"], rows["lane"]
    questions["key"] += len(pairs)
    assert last.feed(questions)["time"].tolist() == rows["time"].tolist()


def test_communicators_that_were_not_used_for_long_are_forgotten():
    """Rank 0 and 1 leave a collective; then rank 1 leaves others on as many communicators as are kept, alone."""
    both, question = [(MEMBER, 0, 3, 0, 0), (MEMBER, 1, 3, 0, 0)], [(QUESTION, 0, 1, 0, 0)]
    alone = [(MEMBER, 1, 3, comm, 0) for comm in range(1, COMMS_KEPT + 1)]
    last = LastSyncs(np.full(LANES, -1))
    rows = sync_rows(both + alone[:-1] + question + alone[-1:] + question)
    assert last.feed(rows)["time"].tolist() == [0, -1]
