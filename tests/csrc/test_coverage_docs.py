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
    decoded = {p.name for p in standard.procedures() if coverage.section_of(p) not in ("local", "left_out")}
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
    details = [semantics.TABLE.kinds["rma"].details["moves"], semantics.TABLE.kinds["win_create"].details["flavors"]]
    tables = [*semantics.TABLE.kind_of, *semantics.TABLE.file_places, *(name for d in details for name in d)]
    assert {f"MPI_{name}" for name in tables} <= names


def test_the_classes_of_calls_stand_in_the_page_on_bounds():
    page = " ".join((coverage.ROOT / "docs" / "bounds.md").read_text().split())
    assert coverage.classes_sentence() in page
