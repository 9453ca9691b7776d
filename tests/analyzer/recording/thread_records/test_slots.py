"""Slots of open requests, against a list that is searched from its begin."""

from analyzer._kernels import ffi, lib
from hypothesis import given
from hypothesis import strategies as st

NEW, AGAIN, BEFORE = 1, 0, -3
TAKE = st.tuples(st.just("take"), st.sampled_from([NEW, NEW, NEW, AGAIN, BEFORE]), st.integers(0, 2), st.booleans())
GIVE = st.tuples(st.just("give"), st.integers(0, 400))


class Model:
    """The open requests, in order of taking."""

    def __init__(self):
        self.open, self.free, self.next, self.shared = [], [], 0, 0

    def take(self, key, shared):
        if shared:
            slot, self.shared = self.shared, self.shared + 1
        elif self.free:
            slot = self.free.pop()
        else:
            slot, self.next = self.next, self.next + 1
        self.open.append((key, slot, shared))
        return slot

    def give(self, key):
        found = next((row for row in self.open if row[0] == key), None)
        if found is None:
            return None
        self.open.remove(found)
        if not found[2]:
            self.free.append(found[1])
        if not self.open:
            self.free, self.next = [], 0
        return found[1]


def take(slots, key, shared=False):
    return lib.slots_take(slots, key[0], 1, key[1], 2, shared).slot


def give(slots, key):
    found = lib.slots_give(slots, key[0], 1, key[1], 2)
    return found.slot if found else None


@given(st.lists(TAKE | GIVE, max_size=300), st.booleans())
def test_any_order(actions, in_order):
    slots, model, now, keys, most = ffi.gc(ffi.new("struct slots *"), lib.slots_free), Model(), 0, [], 0
    for what, which, *rest in actions:
        if what == "take":
            tag, shared = rest
            now += max(which, AGAIN) if in_order else which
            keys.append((now, tag))
            assert take(slots, keys[-1], shared) == model.take(keys[-1], shared)
            most = max(most, sum(not shared for _, _, shared in model.open))
        else:
            key = keys[which % len(keys)] if keys else (0, 0)
            assert give(slots, key) == model.give(key)
    assert (slots.own, slots.shared, slots.n) == (most, model.shared, len(model.open))


def test_one_that_stays_open_keeps_no_room_of_others():
    slots = ffi.gc(ffi.new("struct slots *"), lib.slots_free)
    take(slots, (0, 9))
    for k in range(10_000):
        assert take(slots, (k, 0)) == 1
        assert give(slots, (k, 0)) == 1
    assert slots.room == 64 and slots.n == 1
    assert give(slots, (0, 9)) == 0
