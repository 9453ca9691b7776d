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


def request(key, shared=False):
    posted, tag = key
    return ffi.new("struct open_request *", {"posted": posted, "peer": 1, "tag": tag, "comm": 2, "shared": shared})


@given(st.lists(TAKE | GIVE, max_size=300), st.booleans())
def test_any_order(actions, in_order):
    slots, model, now, keys, most = ffi.gc(ffi.new("struct slots *"), lib.slots_free), Model(), 0, [], 0
    for what, which, *rest in actions:
        if what == "take":
            tag, shared = rest
            now += max(which, AGAIN) if in_order else which
            keys.append((now, tag))
            assert lib.slots_take(slots, request(keys[-1], shared)) == model.take(keys[-1], shared)
            most = max(most, sum(not shared for _, _, shared in model.open))
        else:
            key = keys[which % len(keys)] if keys else (0, 0)
            found, slot = lib.slots_give(slots, request(key)), model.give(key)
            assert (found.slot if found else None) == slot
    assert (slots.own, slots.shared, slots.n) == (most, model.shared, len(model.open))


def test_one_that_stays_open_keeps_no_room_of_others():
    slots = ffi.gc(ffi.new("struct slots *"), lib.slots_free)
    lib.slots_take(slots, request((0, 9)))
    for k in range(10_000):
        assert lib.slots_take(slots, request((k, 0))) == 1
        assert lib.slots_give(slots, request((k, 0))).slot == 1
    assert slots.room == 64 and slots.n == 1
    assert lib.slots_give(slots, request((0, 9))).slot == 0
