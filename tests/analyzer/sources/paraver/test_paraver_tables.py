"""Event types, values and states of MPI procedures, against Extrae's tables."""

from __future__ import annotations

import numpy as np
import pytest

from analyzer.trace import State
from analyzer.trace.paraver import CALL_VALUES, call_labels, call_name, event_of, event_table, state_of, state_table

# (procedure, type, value, state): types and values from Extrae's MPI_EventEncoding.h
KNOWN = [
    ("MPI_Send", 50000001, 1, 4),
    ("MPI_Recv", 50000001, 2, 3),
    ("MPI_Isend", 50000001, 3, 10),
    ("MPI_Irecv", 50000001, 4, 11),
    ("MPI_Wait", 50000001, 5, 8),
    ("MPI_Waitall", 50000001, 6, 8),
    ("MPI_Bcast", 50000002, 7, 13),
    ("MPI_Barrier", 50000002, 8, 5),
    ("MPI_Allreduce", 50000002, 10, 13),
    ("MPI_Comm_rank", 50000003, 19, 15),
    ("MPI_Comm_free", 50000003, 25, 15),
    ("MPI_Scan", 50000002, 30, 13),
    ("MPI_Init", 50000003, 31, 15),
    ("MPI_Init_thread", 50000003, 31, 15),
    ("MPI_Finalize", 50000003, 32, 15),
    ("MPI_Bsend", 50000001, 33, 4),
    ("MPI_Irsend", 50000001, 38, 10),
    ("MPI_Test", 50000001, 39, 6),
    ("MPI_Sendrecv", 50000001, 41, 16),
    ("MPI_Cart_create", 50000003, 43, 15),
    ("MPI_Cart_sub", 50000003, 49, 15),
    ("MPI_Waitany", 50000001, 59, 8),
    ("MPI_Iprobe", 50000001, 62, 6),
    ("MPI_Win_create", 50000004, 63, 25),
    ("MPI_Put", 50000004, 65, 25),
    ("MPI_Win_lock", 50000004, 74, 25),
    ("MPI_Reduce_scatter", 50000002, 80, 13),
    ("MPI_Bsend_init", 50000003, 112, 15),
    ("MPI_Request_free", 50000003, 115, 15),
    ("MPI_Send_init", 50000003, 117, 15),
    ("MPI_Startall", 50000003, 124, 15),
    ("MPI_Testsome", 50000001, 128, 6),
    ("MPI_File_open", 50000005, 141, 12),
    ("MPI_File_write_at_all", 50000005, 150, 12),
    ("MPI_Ireduce", 50000002, 154, 13),
    ("MPI_Ibarrier", 50000002, 156, 13),
    ("MPI_Ireduce_scatter", 50000002, 166, 13),
    ("MPI_Ialltoallw", 50000002, 171, 13),
    ("MPI_Get_accumulate", 50000004, 172, 25),
    ("MPI_Neighbor_allgather", 50000002, 174, 13),
    ("MPI_Ineighbor_alltoallw", 50000002, 183, 13),
    ("MPI_Compare_and_swap", 50000004, 185, 25),
    ("MPI_Mprobe", 50000001, 190, 6),
    ("MPI_Mrecv", 50000001, 192, 3),
    ("MPI_Imrecv", 50000001, 193, 11),
]


@pytest.mark.parametrize(("name", "event_type", "value", "state"), KNOWN)
def test_known_procedures(name, event_type, value, state):
    assert event_of(name) == (event_type, value)
    assert event_of(f"{name}_c") == (event_type, value)
    assert state_of(name) == state_of(f"{name}_c") == state


def test_values_are_1_to_193():
    assert sorted(CALL_VALUES.values()) == list(range(1, 194))


@pytest.mark.parametrize("name", ["MPI_Exscan", "MPI_Comm_split_type", "MPI_Isendrecv", "MPI_Session_init", "MPI_Rput"])
def test_procedures_beyond_extrae_have_values_of_our_own(name):
    assert event_of(name, 41) == (50000100, 42)


def test_states_of_procedures_beyond_extrae():
    states = {
        name: state_of(name) for name in ("MPI_Exscan", "MPI_Isendrecv", "MPI_Rput", "MPI_File_sync", "MPI_Psend_init")
    }
    assert list(states.values()) == [
        State.GROUP_COMMUNICATION,
        State.IMMEDIATE_SEND,
        State.ONE_SIDED,
        State.IO,
        State.OTHERS,
    ]


@pytest.mark.parametrize("name", ["MPI_Test_cancelled", "MPI_Topo_test", "MPI_Comm_test_inter", "MPI_Type_commit"])
def test_names_that_only_look_like_a_family(name):
    assert state_of(name) == State.OTHERS
    assert event_of(name)[0] == 50000003


def test_tables_follow_the_procedures():
    procedures = ("MPI_Send", "MPI_Exscan", "MPI_Barrier")
    types, values = event_table(procedures)
    assert types.tolist() == [50000001, 50000100, 50000002]
    assert values.tolist() == [1, 2, 8]
    assert state_table(procedures).tolist() == [4, 13, 5]
    assert (types.dtype, values.dtype, state_table(procedures).dtype) == (np.uint32, np.int64, np.int32)


def test_names_come_back_from_events():
    procedures = (*CALL_VALUES, "MPI_Exscan", "MPI_Parrived")
    labels = call_labels(procedures)
    for index, name in enumerate(procedures):
        assert call_name(*event_of(name, index), labels) == name


def test_a_value_that_nothing_explains_has_a_name():
    assert call_name(50000003, 200, {}) == "MPI call 50000003:200"
    assert (
        call_name(50000003, 211, {50000003: ("MPI Other", {211: "MPI_Comm_dup_with_info"})}) == "MPI_Comm_dup_with_info"
    )
