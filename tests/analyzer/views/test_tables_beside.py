"""Tables of views: no name and no number is cut, however narrow the terminal."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from analyzer.report.words.table import print_beside

NAMES = st.lists(
    st.text("abc ", min_size=1, max_size=18).map(str.strip).filter(bool), min_size=1, max_size=5, unique=True
)
NUMBERS = st.floats(0, 1e6).map(lambda value: f"{value:.5g}")


def printed(head, rows, columns, width):
    console = Console(file=io.StringIO(), width=width)
    print_beside(head, rows, columns, console)
    return console.file.getvalue()


@given(st.data(), NAMES, st.integers(0, 12), st.integers(44, 160))
def test_every_name_and_number_is_there_whole(data, rows, count, width):
    cells = st.lists(NUMBERS, min_size=len(rows), max_size=len(rows))
    columns = [(f"number {k}\n(s)", data.draw(cells)) for k in range(count)]
    text = printed("row", rows, columns, width)
    assert all(len(line) <= width for line in text.splitlines())
    tables = [table.splitlines() for table in text.split("\n\n")] if count else []
    found = [[] for _ in rows]
    for table in tables:
        assert table[1].startswith("row")
        for at, (name, line) in enumerate(zip(rows, table[2:], strict=True)):
            assert line.startswith(name)
            found[at] += line[len(name) :].split()
    assert found == [[cells[at] for _, cells in columns] for at in range(len(rows))]


def test_columns_that_fit_are_one_table():
    text = printed("cpu", ["CPU 1", "CPU 2"], [("mean", ["1", "2"]), ("most", ["3", "4"])], 80)
    assert text.splitlines() == ["cpu   mean most", "CPU 1    1    3", "CPU 2    2    4"]


def test_names_that_take_more_than_half_go_on_in_another_line():
    lines = [line.split() for line in printed("row", ["a" * 30], [("mean", ["1.25"])], 32).splitlines()]
    assert lines[1][1] == "1.25" and lines[1][0] + lines[2][0] == "a" * 30
