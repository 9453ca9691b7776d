"""The check of words finds each phrase of its list where a reader meets it, and lets plain English pass."""

import pytest

from lint import check_words


@pytest.fixture
def tree(tmp_path):
    """Writes files of a small tree, with the entries of the list; gives the lines of the check."""

    def check(files, entries=()):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        list_file = tmp_path / check_words.LIST
        list_file.parent.mkdir(exist_ok=True)
        list_file.write_text("# the list\n" + "".join(f"{entry}\n" for entry in entries))
        return list(check_words.wrong(tmp_path))

    return check


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("Of one rank.", 'opens with "Of"'),
        ("Those that ran.", 'opens with "Those"'),
        ("What a rank did.", 'opens with "What"'),
        ("Who looks at rows.", 'opens with "Who"'),
        ("Such a row.", 'opens with "Such"'),
        ("The same of ranks.", 'opens with "The same of"'),
        ("Read so many rows.", '"so many"'),
        ("Wait so long.", '"so long"'),
        ("Find such ones.", '"such ones"'),
        ("Build a table, as those of frames.", '"those of"'),
        ("Send of each member what it has.", '"of each ... what"'),
    ],
)
def test_docstrings(tree, text, hit):
    body = f'"""Module."""\n\ndef f():\n    """{text}"""\n\nX = 1\n"""{text}"""\n'
    assert tree({"a.py": body}) == [f"a.py:4: {hit}", f"a.py:7: {hit}"]


@pytest.mark.parametrize(
    "text",
    [
        "Often, officers offer sofas.",
        "Whatever was read.",
        "What is this?",
        "There are so many rows that they do not fit.",
        "It holds so long as the lock is held.",
        "Return those offered.",
        "Times of each rank, in ns.",
    ],
)
def test_plain_english_passes(tree, text):
    assert tree({"a.py": f'"""{text}"""\n', "a.c": f"/* {text} */\n"}) == []


def test_lines_of_a_long_text(tree):
    assert tree({"a.py": '"""\nRead rows.\n\nThere are\nso many.\n"""\n'}) == ['a.py:5: "so many"']
    assert tree({"a.py": "", "a.h": "\n/* Read rows.\n * There are\n * so many. */\n"}) == ['a.h:4: "so many"']


def test_code_is_no_text(tree):
    python = '"""Module."""\n\nx = "Of one rank, so many"  # so many\n'
    c = """const char *a = "/* Of one */"; char b = '"'; /* Read. */ char c = '"';\n"""
    page = "# Page\n\n```\nso many\n```\n\n    so many\n\n`so many` [x](of-each-what.md)\n"
    assert tree({"a.py": python, "a.c": c, "a.md": page}) == []


def test_comments_of_c(tree):
    source = "// Of a row\n// and more.\nint a; // Of a row.\nint b; /* Of a\n          row. */\n"
    assert tree({"a.c": source}) == [f'a.c:{line}: opens with "Of"' for line in (1, 3, 4)]


def test_help_lines(tree):
    source = '"""Module."""\n\nf(help="Of this " "rank.", short_help=f"so many {x}")\n'
    assert tree({"a.py": source}) == ['a.py:3: "so many"', 'a.py:3: opens with "Of"']


def test_pages_may_open_anyhow_and_say_those_of(tree):
    assert tree({"a.md": "What it is: those of 2009.\n\nRead\nso many rows.\n"}) == ['a.md:4: "so many"']


def test_a_listed_folder_is_tolerated(tree):
    files = {"a/b/c.py": '"""Of one."""\n', "a/d.py": '"""Of one."""\n'}
    assert tree(files, ["a"]) == []
    assert tree(files, ["a/b"]) == ['a/d.py:1: opens with "Of"']
    assert tree(files, ["a/b", "a/d.py"]) == []


def test_a_clean_entry_is_an_error_until_it_is_removed(tree, tmp_path):
    files = {"a/b/c.py": '"""Of one."""\n', "a/d.py": '"""Read."""\n'}
    said = tree(files, ["a", "a/b", "gone"])  # a/b covers the only hit
    assert [line.split()[1] for line in said] == ["a", "gone"]
    assert check_words.shrink(tmp_path) == ["a", "gone"]
    assert list(check_words.wrong(tmp_path)) == []
    assert (tmp_path / check_words.LIST).read_text() == "# the list\na/b\n"
