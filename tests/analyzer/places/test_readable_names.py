"""Names of functions as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.places.readable_names import fortran_binding, is_fortran, readable, without_arguments


@pytest.mark.parametrize(
    ("name", "fortran", "expected"),
    [
        ("main", None, "main"),
        ("main.cold", False, "main"),
        ("solve.constprop.0.isra.0", False, "solve"),
        ("solve.part.3.llvm.12345", False, "solve"),
        ("solve._omp_fn.1", False, "solve._omp_fn.1"),
        ("__exchange_mod_MOD_exchange", None, "exchange_mod::exchange"),
        ("__a_b_MOD_c_d", True, "a_b::c_d"),
        ("exchange_mod_mp_exchange_", None, "exchange_mod::exchange"),
        ("_QMexchange_modPexchange", None, "exchange_mod::exchange"),
        ("_QMexchange_modFexchangePinner", None, "exchange_mod::inner"),
        ("_QFPinside", None, "inside"),
        ("_QPexternal_one", None, "external_one"),
        ("inner.0", True, "inner"),
        ("external_one_", True, "external_one"),
        ("external_one_", None, "external_one"),
        ("external_one_", False, "external_one_"),
        ("dgemm__", None, "dgemm"),
        ("MAIN__", None, "program"),
        ("_QQmain", None, "program"),
        ("c_bound", True, "c_bound"),
        ("_ZN4phys6Solver4stepEi", None, "phys::Solver::step(int)"),
        ("_ZN4phys6Solver4stepEi.cold", None, "phys::Solver::step(int)"),
        ("_Znonsense", None, "_Znonsense"),
        ("", None, ""),
    ],
)
def test_readable(name, fortran, expected):
    assert readable(name, fortran) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("main", "main"),
        ("exchange_mod::exchange", "exchange_mod::exchange"),
        ("phys::Solver::step(std::map<int, std::string> const&)", "phys::Solver::step"),
        (
            "void phys::(anonymous namespace)::Field<double, 3>::each<main::{lambda(double&)#1}>(int)",
            "phys::Field::each",
        ),
        ("phys::Field<double, 3>::operator()(int) const", "phys::Field::operator()"),
        ("std::function<int (int)>::operator()(int) const", "std::function::operator()"),
        ("main::{lambda(double&)#1}::operator()(double&) const", "main::{lambda#1}"),
        ("f()::{lambda(int)#2}::operator()(int) const::{lambda()#1}::operator()() const", "f::{lambda#2}::{lambda#1}"),
        ("std::vector<int, std::allocator<int> >::~vector()", "std::vector::~vector"),
        ("A::operator double() const", "A::operator double"),
        ("operator<<(std::ostream&, A const&)", "operator<<"),
        ("std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", "std::operator<<"),
        ("A::operator->()", "A::operator->"),
        ("f(int)::g(long) [clone .isra.0]", "f::g"),
        ("each<main()::<lambda(double&)> >", "each"),
        ("", ""),
    ],
)
def test_without_arguments(name, expected):
    assert without_arguments(name) == expected


@given(st.text(alphabet="ab:<>() &{}#operator~[],*const", max_size=40))
def test_any_text_has_a_short_form_that_is_no_longer(name):
    short = without_arguments(name)
    assert len(short) <= len(name) and bool(short) == bool(name)


@pytest.mark.parametrize(
    ("file", "expected"),
    [("a.f90", True), ("/x/b.F", True), ("c.for", True), ("d.c", False), ("f90", False), ("", False)],
)
def test_fortran_by_file(file, expected):
    assert is_fortran(file) == expected


@pytest.mark.parametrize(
    ("symbol", "fortran", "procedure"),
    [
        ("mpi_send_", None, "MPI_Send"),
        ("mpi_send_", False, "MPI_Send"),  # as tools write it in C
        ("mpi_iallreduce__", None, "MPI_Iallreduce"),
        ("pmpi_comm_rank_", None, "PMPI_Comm_rank"),
        ("mpi_waitall_f08_", None, "MPI_Waitall"),
        ("mpi_barrier", True, "MPI_Barrier"),
        ("MPI_BARRIER", True, "MPI_Barrier"),
        ("mpi_barrier", False, ""),
        ("mpi_barrier", None, ""),
        ("mpi_set_up_", None, ""),
        ("compute_", None, ""),
    ],
)
def test_bindings_for_fortran(symbol, fortran, procedure):
    assert fortran_binding(symbol, fortran) == procedure
