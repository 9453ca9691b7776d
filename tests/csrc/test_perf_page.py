"""Counters of the processor read in user space, from pages and registers that the test makes up."""

import ctypes

import compiled
import pytest
from hypothesis import given
from hypothesis import strategies as st

CODE = r"""
#include "counters/internal/perf_page.h"
#include <string.h>

static struct perf_event_mmap_page page;
static uint64_t registers[4], next_value;
static int changes, readings;

/* While it is read the kernel may take the counter away, and give it back on another register. */
static uint64_t read_register(uint32_t index)
{
    uint64_t value = registers[index];
    readings++;
    if (changes) {
        changes--;
        page.lock += 2;
        page.offset += 1000;
        page.index = page.index % 4 + 1;
        registers[page.index - 1] = next_value;
    }
    return value;
}

void fill(unsigned width, unsigned index, int allowed, uint64_t offset, uint64_t value, uint64_t next, int times)
{
    memset(&page, 0, sizeof page);
    page.pmc_width = (uint16_t)width;
    page.index = index;
    page.cap_user_rdpmc = allowed != 0;
    page.offset = (int64_t)offset;
    if (index) registers[index - 1] = value;
    next_value = next;
    changes = times;
    readings = 0;
}

int take(uint64_t *value)
{
    return perf_page_read(&page, read_register, value);
}

int taken(void)
{
    return readings;
}
"""
WORD = st.integers(0, 2**64 - 1)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    library = compiled.library(tmp_path_factory.mktemp("page"), code=CODE)
    library.fill.argtypes = [ctypes.c_uint, ctypes.c_uint, ctypes.c_int, *[ctypes.c_uint64] * 3, ctypes.c_int]
    return library


def signed(value: int, width: int) -> int:
    """The low `width` bits as a number with a sign."""
    low = value % 2**width
    return low - 2**width if low >= 2 ** (width - 1) else low


@given(st.integers(1, 64), st.integers(1, 4), WORD, WORD)
def test_a_register_is_added_to_the_sum_with_its_sign(page, width, index, offset, value):
    """A register counts up to 0 from below: so the kernel is interrupted when it overflows."""
    got = ctypes.c_uint64()
    page.fill(width, index, 1, offset, value, 0, 0)
    assert page.take(ctypes.byref(got))
    assert got.value == (offset + signed(value, width)) % 2**64
    assert page.taken() == 1


@given(st.integers(1, 5), WORD)
def test_a_page_that_changes_is_read_again(page, changes, offset):
    """The last reading alone counts: offset and register of one moment."""
    got = ctypes.c_uint64()
    page.fill(48, 2, 1, offset, 5, 77, changes)
    assert page.take(ctypes.byref(got))
    assert got.value == (offset + 1000 * changes + 77) % 2**64
    assert page.taken() == changes + 1


def test_a_counter_on_no_register_is_left_to_the_kernel(page):
    got = ctypes.c_uint64(42)
    for index, allowed in [(0, 1), (1, 0)]:
        page.fill(48, index, allowed, 1, 1, 1, 0)
        assert not page.take(ctypes.byref(got))
        assert (got.value, page.taken()) == (42, 0)
