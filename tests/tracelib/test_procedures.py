"""The one table of procedures against the standard, and the families against the kinds of the tracer."""

import pytest

from csrc.generate import semantics, standard
from tracelib.schema import procedures
from tracelib.schema.procedure_table import PATH, read_table

STANDARD = {p.name for p in standard.procedures()}


def test_they_are_procedures_of_the_standard():
    named = [*procedures.TABLE.kind_of, *(name for names in procedures.TABLE.families.values() for name in names)]
    assert {f"MPI_{name}" for name in named} <= STANDARD


def test_each_procedure_that_no_family_has_says_why():
    assert all(why for kind in procedures.TABLE.kinds.values() for why in kind.unlisted.values())


def test_each_kind_has_procedures():
    assert {semantics.kind_of(name) for name in STANDARD} == {*procedures.TABLE.kinds, "timed"}


@pytest.mark.parametrize(
    ("kinds", "family"),
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
def test_the_sets_are_those_of_the_tracer(kinds, family):
    assert family == {name for name in STANDARD if semantics.kind_of(name) in kinds}


def test_some_by_name():
    assert {"MPI_Bsend", "MPI_Ibsend"} == procedures.BUFFERED_SENDS
    assert {"MPI_Ssend", "MPI_Issend"} == procedures.SYNCHRONOUS_SENDS
    assert {"MPI_Iprobe", "MPI_Improbe", "MPI_Parrived", "MPI_Win_test"} == (
        procedures.POLLS - procedures.TESTS - procedures.STATUSES
    )


@pytest.mark.parametrize(
    ("procedure", "kind", "call_class", "roles"),
    [
        ("MPI_Isendrecv", "isendrecv", "p2p", "CALL_SENDS | CALL_POSTS"),
        ("MPI_Iallreduce", "icollective", "collective", "CALL_BEGINS_TO_MEET"),
        ("MPI_Neighbor_alltoallw_init", "collective_init", "collective", "0"),
        ("MPI_File_iwrite_at_all", "io", "io", "0"),
        ("MPI_File_sync", "timed", "io", "0"),
        ("MPI_Comm_rank", "asked", "communicator", "0"),
        ("MPI_Session_init", "session_init", "other", "0"),
        ("MPI_Abort", "abort", "always", "0"),
        ("MPI_Type_commit", "timed", "other", "0"),
    ],
)
def test_columns_of_some(procedure, kind, call_class, roles):
    assert (semantics.kind_of(procedure), semantics.class_of(procedure)) == (kind, call_class)
    assert semantics.role_of(procedure) == roles


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ('class = "none"', "there is no class 'none'"),
        ('section = "none"', "there is no section 'none'"),
        ('roles = ["none"]', "there is no role 'none'"),
        ('form_of = "none"', "there is no form_of 'none'"),
        ('families.mine = "Send"', "Send is of the kinds send and made_up"),
    ],
)
def test_a_mistake_in_the_table_is_said(tmp_path, wrong, says):
    path = tmp_path / "procedures.toml"
    path.write_text(f"{PATH.read_text()}\n[kind.made_up]\n{wrong}\n")
    with pytest.raises(ValueError, match=says):
        read_table(path)
