"""The check of names finds classes that share a name, and functions whose name says nothing."""

import pytest

from lint import check_names


@pytest.fixture
def tree(tmp_path):
    """Writes files of a small tree, with the entries of the list; gives the lines of the check."""

    def check(files, entries=()):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        list_file = tmp_path / check_names.LIST
        list_file.parent.mkdir(exist_ok=True)
        list_file.write_text("# the list\n" + "".join(f"{entry}\n" for entry in entries))
        return list(check_names.wrong(tmp_path))

    return check


def test_classes_that_share_a_name(tree):
    files = {"analyzer/a.py": "class Rows: ...\n", "tracelib/b/__init__.py": "class Rows: ...\nclass Ranks: ...\n"}
    (line,) = tree(files)
    assert "class Rows stands in analyzer.a, tracelib.b" in line
    assert tree(files, ["Rows"]) == []


def test_private_classes_may_share_a_name(tree):
    assert tree({"analyzer/a.py": "class _Rows: ...\n", "analyzer/b.py": "class _Rows: ...\n"}) == []


def test_functions_without_a_verb(tree):
    files = {"analyzer/a.py": "class Rows:\n    @classmethod\n    def of(cls): ...\n\ndef read_rows(): ...\n"}
    assert tree(files) == ["analyzer.a: function of: say what is done, or what is returned"]
    assert tree(files, ["analyzer.a of"]) == []


def test_the_list_only_shrinks(tree, tmp_path):
    files = {"analyzer/a.py": "class Rows: ...\n", "analyzer/b.py": "class Rows: ...\n"}
    assert ["Ranks is right by now" in line for line in tree(files, ["Rows", "Ranks"])] == [True]
    assert check_names.shrink(tmp_path) == ["Ranks"]
    assert check_names.tolerated(tmp_path) == ["Rows"]
