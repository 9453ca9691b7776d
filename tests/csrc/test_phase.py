"""record/phase.c alone: the life of a run goes one way, from whatever thread a step comes."""

import compiled
import pytest

NAMES = ("untraced", "prepared", "alone", "sessions", "world", "closed", "refused")
(UNTRACED, PREPARED, ALONE, SESSIONS, WORLD, CLOSED, REFUSED) = range(len(NAMES))

CODE = """
#include "record/phase.h"
bool traced(void) { return phase_is_traced(); }
bool recording(void) { return phase_is_recording(); }
bool closed(void) { return phase_is_closed(); }
"""


@pytest.fixture(scope="module")
def phase(tmp_path_factory):
    return compiled.library(tmp_path_factory.mktemp("phase"), "record/phase.c", code=CODE)


def after(phase, *steps: int) -> tuple[str, str]:
    """The phase of a run that takes these steps, and the one it has reached."""
    for step in (UNTRACED, *steps):
        phase.phase_enter(step)
    return NAMES[phase.phase_now()], NAMES[phase.phase_reached()]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((), ("untraced", "untraced")),
        ((PREPARED,), ("prepared", "prepared")),
        ((PREPARED, WORLD, CLOSED), ("closed", "world")),
        ((PREPARED, ALONE, WORLD), ("world", "world")),
        ((PREPARED, ALONE, CLOSED), ("closed", "alone")),
        ((PREPARED, SESSIONS, WORLD, SESSIONS), ("world", "world")),
        ((PREPARED, SESSIONS, CLOSED, WORLD), ("closed", "world")),  # MPI_Init after an MPI_Abort that returned
        ((PREPARED, WORLD, CLOSED, CLOSED), ("closed", "world")),
        ((PREPARED, ALONE, CLOSED, REFUSED), ("refused", "alone")),
        ((PREPARED, WORLD, CLOSED, UNTRACED), ("untraced", "untraced")),  # in the child of a fork
    ],
)
def test_steps(phase, steps, expected):
    assert after(phase, *steps) == expected


@pytest.mark.parametrize(
    ("last", "traced", "recording", "closed"),
    [
        (UNTRACED, False, False, False),
        (PREPARED, True, False, False),
        (ALONE, True, False, False),
        (SESSIONS, True, True, False),
        (WORLD, True, True, False),
        (CLOSED, True, False, True),
        (REFUSED, False, False, True),
    ],
)
def test_what_a_phase_says(phase, last, traced, recording, closed):
    after(phase, last)
    assert (phase.traced() & 1, phase.recording() & 1, phase.closed() & 1) == (traced, recording, closed)
