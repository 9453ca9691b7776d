"""Which paths a regular expression finds."""

import pytest
from test_places import APP, MPI, places_of

from analyzer.trace.at_places import PlaceChoice


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("exchange", [True, True, False]), ("^exchange.c:212$", [True, False, False]), ("c:21", [True, True, False]),
        ("solve<int>", [True, False, False]), ("^solve$", [True, False, False]), ("/s/left", [True, True, False]),
        ("bin/app", [True, True, True]), ("libmpi", [False] * 3), ("mpi_send", [False] * 3), ("main", [True] * 3),
    ],
)  # fmt: skip
def test_any_frame_of_the_program_can_fit(text, fits):
    """Functions with arguments or without, lines of files in full or as shown, modules; but nothing of MPI's."""
    chains = [(APP, 1), (APP, 2), (APP, 3)], [(APP, 1), (APP, 4), (MPI, 1)], [(APP, 1), (MPI, 1)]
    places, paths = places_of(*chains)
    found = places.matching(PlaceChoice.parse(text).pattern)
    assert found[paths].tolist() == fits
