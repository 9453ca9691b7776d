"""The one table of procedures against what the tracer knows, and against the standard."""

from collections import Counter

import pytest

from csrc.generate import semantics, standard
from tracelib.schema import procedures

IN_FAMILIES = [f"MPI_{name}" for names in procedures.FAMILIES.values() for name in names.split()]
LEFT = [f"MPI_{name}" for names in procedures.NO_FAMILY for name in names.split()]
DERIVED = procedures.NONBLOCKING_COLLECTIVES | procedures.PERSISTENT_COLLECTIVES


def test_each_procedure_has_one_place():
    twice = {name: n for name, n in Counter([*IN_FAMILIES, *LEFT, *DERIVED]).items() if n > 1}
    assert not twice
    assert all(procedures.NO_FAMILY.values())


def test_they_are_procedures_of_the_standard():
    assert {*IN_FAMILIES, *LEFT, *DERIVED} <= {p.name for p in standard.procedures()}


def test_each_procedure_that_the_tracer_decodes_has_a_place():
    """Files are told by their names."""
    decoded = {p.name for p in standard.procedures() if semantics.kind_of(p.name)[0] not in ("timed", "io")}
    assert decoded <= {*IN_FAMILIES, *LEFT, *DERIVED}


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        (("send",), procedures.SENDS),
        (("isend",), procedures.IMMEDIATE_SENDS),
        (("recv", "mrecv"), procedures.RECEIVES),
        (("irecv", "imrecv"), procedures.IMMEDIATE_RECEIVES),
        (("probe", "iprobe", "mprobe", "improbe"), procedures.PROBES),
        (("wait", "waitall", "waitany", "waitsome"), procedures.WAITS),
        (("test", "testall", "testany", "testsome"), procedures.TESTS),
        (("poll_only",), procedures.STATUSES),
        (("collective",), procedures.BLOCKING_COLLECTIVES),
        (("icollective",), procedures.NONBLOCKING_COLLECTIVES),
        (("collective_init",), procedures.PERSISTENT_COLLECTIVES),
        (("rma",), procedures.ONE_SIDED_OPERATIONS),
        (("send", "isend", "sendrecv", "isendrecv"), procedures.ROWS_THAT_SEND),
        (("recv",), procedures.ROWS_THAT_RECEIVE),
    ],
)
def test_the_sets_are_those_of_the_tracer(kinds, found):
    assert found == {p.name for p in standard.procedures() if semantics.kind_of(p.name)[0] in kinds}


def test_some_by_name():
    assert {"MPI_Bsend", "MPI_Ibsend"} == procedures.BUFFERED_SENDS
    assert {"MPI_Ssend", "MPI_Issend"} == procedures.SYNCHRONOUS_SENDS
    assert {"MPI_Iprobe", "MPI_Improbe", "MPI_Parrived", "MPI_Win_test"} == (
        procedures.POLLS - procedures.TESTS - procedures.STATUSES
    )
