"""docs/mpi-coverage.md says what the tables and the test programs say."""

from csrc.generate import coverage, semantics, standard


def test_the_page_is_what_would_be_generated():
    text = coverage.PAGE.read_text()
    assert text == coverage.page(coverage.read_where(text)), (
        "run python -m csrc.generate.coverage > docs/mpi-coverage.md"
    )


def test_what_the_page_says_of_the_mpis_that_are_installed():
    """A later version may have more; that it has less would be news."""
    where = coverage.read_where(coverage.PAGE.read_text())
    assert set(where) == {p.name for p in standard.procedures()}
    for mpi, defined in coverage.symbols().items():
        assert not {name for name, mpis in where.items() if mpi in mpis} - defined, mpi


def test_every_decoded_procedure_that_some_mpi_has_is_called_by_a_program():
    where = coverage.read_where(coverage.PAGE.read_text())
    tested = coverage.callers()
    decoded = {p.name for p in standard.procedures() if coverage.class_of(p) not in ("local", "left out")}
    assert not {n for n in decoded if where[n] and n.lower() not in tested}


def test_what_fails_in_one_mpi_exists_there_and_is_called_in_others():
    where = coverage.read_where(coverage.PAGE.read_text())
    tested = coverage.callers()
    for failure in coverage.FAILURES:
        for name in failure.procedures:
            assert failure.mpi in where[name]
            assert name.lower() in tested


def test_names_in_the_tables_are_procedures():
    names = {p.name for p in standard.procedures()}
    tables = [name for kind in semantics.KINDS.values() for name in kind.split()]
    tables += [*semantics.COLLECTIVES, *semantics.ONE_SIDED, *semantics.WINDOW_FLAVORS]
    assert {f"MPI_{name}" for name in tables} <= names
    assert set(semantics.FILE_PLACES) <= names
