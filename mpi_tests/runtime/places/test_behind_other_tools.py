"""Another tool between the program and the library changes no place."""

import json
import re

import pytest
from conftest import LIBRARY, source_of

SHARED = ("-shared", "-fPIC", "-ldl", "-O2")


@pytest.fixture
def places_with(launch, compiled, analyze, tmp_path):
    """places_with(leg, name, program, *libraries): (call, place, count, function) of a run with these preloaded."""

    def start(leg, name, program, *libraries):
        env = {"LD_PRELOAD": ":".join(map(str, libraries)), "TRACELIB_OUTPUT": f"{name}.h5"}
        launch(leg, program, ranks=2, env=env, preload=False).check()
        rows = json.loads(analyze("look", "--no-files", f"{name}.h5", "--json").check().stdout)["places"]
        return {(row["call"], row["place"], row["count"], row["function"]) for row in rows}

    return start


TRUTH = {
    ("MPI_Barrier", "under_deep_tool.c:6", 6, "meet"),
    ("MPI_Bcast", "under_deep_tool.c:15", 2, "main"),
    ("MPI_Barrier", "under_deep_tool.c:16", 2, "main"),
}
PROGRAM = ("under_deep_tool.c", "-g", "-O1", "-fno-optimize-sibling-calls")


@pytest.mark.parametrize("debug", ["-g", "-g0"])
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_a_tool_in_a_library(request, compiled, analyze, places_with, family, debug):
    leg = request.getfixturevalue(family)
    program, tool = compiled(leg, *PROGRAM), compiled(leg, "deep_tool.c", *SHARED, debug)
    alone = places_with(leg, "alone", program, LIBRARY)
    assert alone > TRUTH
    assert places_with(leg, "with", program, tool, LIBRARY) == alone
    changed = analyze("diff", "alone.h5", "with.h5").check().stdout
    assert not re.search(r"(?<!under_)deep_tool|pass_(on|and_count)", changed)


def test_a_tool_that_is_linked_to_the_program(openmpi, compiled, places_with):
    """Its functions are told by who calls them; not where the compiler made that call a jump."""
    program = compiled(openmpi, *PROGRAM, str(source_of("deep_tool.c")), "-ldl")
    assert places_with(openmpi, "linked", program, LIBRARY) > TRUTH
