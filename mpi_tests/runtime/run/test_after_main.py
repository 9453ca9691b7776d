"""Calls that come when the program is over: destructors of libraries, which may run after all others."""

import pytest


@pytest.mark.parametrize("flags", [(), ("-DSAME",), ("-DSAME", "-DCOMPRESSED")], ids=["turns", "folded", "compressed"])
@pytest.mark.parametrize("calls", [1, 4])
def test_calls_of_a_destructor_are_recorded(openmpi, compiled, traced, flags, calls):
    library = compiled(openmpi, "after_all.c", "-DLIBRARY", f"-DCALLS={calls}", *flags, "-shared", "-fPIC")
    program = compiled(openmpi, "after_all.c", str(library))
    options = {"TRACELIB_COMPRESS": "6"} if "-DCOMPRESSED" in flags else {}
    result = traced(openmpi, program, ranks=2, env=options)
    asked = {"MPI_Finalized": calls} | ({} if "-DSAME" in flags else {"MPI_Initialized": calls})
    for file in result.ranks:
        counts = file.counts()
        assert {name: counts[name] for name in asked} == asked
        assert file.attributes["lost_calls"] == 0
