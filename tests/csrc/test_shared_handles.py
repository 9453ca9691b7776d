"""Several operations with one handle: MPICH gives the small sends of all threads the same one."""

import ctypes
from itertools import count

import compiled
import pytest

from csrc import build_ngmpi, build_runtime

THREADS = """
#include "handles/requests.h"
#include "record/skipped.h"
#include "record/thread.h"

struct abi abi;
__thread struct thread self;
bool open_receives_add(struct open_receives *open, uint64_t posted) { return open && posted; }

void begin(void) { requests_start(true); }
void post(uint32_t thread, word handle, uint64_t posted)
{
    struct request r = {.handle = handle, .posted = posted, .active = true};
    self.index = thread;
    requests_add(&r);
}
void hold(uint32_t thread, struct held_request *held, int n) { self.index = thread; requests_hold(held, n); }
uint64_t complete(uint32_t thread, const struct held_request *held)
{
    struct request r;
    self.index = thread;
    return requests_take(*held, &r) ? r.posted : 0;
}
"""
POSTERS, HELPER, OTHER = (0, 1), 2, 3
HANDLES = count(77)


class Held(ctypes.Structure):
    """`struct held_request`."""

    _fields_ = (("handle", ctypes.c_void_p), ("operation", ctypes.c_uint64))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """The table of requests for many threads: loaded once, for it takes static memory of each thread."""
    folder = tmp_path_factory.mktemp("requests")
    build_ngmpi.write_headers(folder)
    library = compiled.library(folder, "handles/requests.c", code=THREADS, includes=[build_runtime.INCLUDE])
    library.post.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint64]
    library.complete.restype = ctypes.c_uint64
    library.begin()
    return library


@pytest.fixture
def handle():
    """One that no other test has."""
    return next(HANDLES)


def held(table, handle, thread, n):
    """The handle n times, held by one call of a thread."""
    handles = (Held * n)(*[Held(handle, 0)] * n)
    table.hold(thread, handles, n)
    return handles


def test_a_call_that_completes_several_means_as_many_operations(table, handle):
    """None is left to be taken for one that another thread posted after the call had returned."""
    for time in (1, 2):
        table.post(POSTERS[0], handle, time)
    both = held(table, handle, HELPER, 2)
    assert both[0].operation != both[1].operation
    table.post(POSTERS[1], handle, 3)
    (its,) = held(table, handle, OTHER, 1)
    assert table.complete(OTHER, ctypes.byref(its)) == 3
    assert sorted(table.complete(HELPER, ctypes.byref(one)) for one in both) == [1, 2]


def test_a_thread_that_looks_again_means_the_same_operations(table, handle):
    """A test that failed has held them; the next one holds them again."""
    for time in (1, 2):
        table.post(POSTERS[0], handle, time)
    first, again = (held(table, handle, HELPER, 2) for _ in range(2))
    assert [one.operation for one in first] == [one.operation for one in again]


def test_a_threads_own_operations_go_first(table, handle):
    table.post(POSTERS[0], handle, 1)
    table.post(POSTERS[1], handle, 2)
    (its,) = held(table, handle, POSTERS[1], 1)
    assert table.complete(POSTERS[1], ctypes.byref(its)) == 2


def test_a_call_that_completes_more_than_are_looked_at_takes_no_other_threads(table, handle):
    many = 200
    table.post(POSTERS[1], handle, 1)
    for time in range(many):
        table.post(POSTERS[0], handle, 2 + time)
    its = held(table, handle, POSTERS[0], many)
    assert [table.complete(POSTERS[0], ctypes.byref(one)) for one in its] == list(range(2, 2 + many))
