"""`analyze fit` of terms and points that somebody typed wrong: an answer, or one clear line, and no warning."""

import random
import warnings

import pytest

from analyzer.cli import main

WORDS = [
    "n", "p", "n", "p", "^2", "^-1", "^(1/2)", "^0.3333", "^p", "*", "/", "+", "-", "(", ")", ",", "{", "}", "1", "0",
    "2", "1e400", "nan", "inf", "log2(", "log10(", "sqrt(", "ceil(", "floor(", "min(", "max(", "n)", "p)", "q", " ",
    "**", "^1e9", "^999999", "é", "\x00", "[", "time", "0x1", "__import__", "lambda",
]  # fmt: skip
POINTS = [
    "p=512,n=160", "p=0,n=0", "p=-1,n=5", "p=1e308,n=1e308", "p=nan,n=1", "p=1e-320,n=1", "p=1e-320,n=1e-320", "p=1",
    "p,n", "=", "p=,n=", "p=x,n=1", "q=1,p=2", "p=2;n=3",
]  # fmt: skip
ROWS = [f"{p},{n},{2e-9 * n**3 / p + 4e-7 * n * n * p}" for p in (2, 4, 8) for n in (50, 100, 200)]


def outcome(capsys, *words):
    """Exit code and the lines of standard error; warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)
        code = main(["fit", *map(str, words)])
    return code, capsys.readouterr().err.splitlines()


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["p,n,time", *ROWS]))
    return path


@pytest.mark.parametrize("seed", range(4))
def test_terms(seed, table, capsys):
    draw = random.Random(seed)
    for _ in range(10):
        groups = ",".join(
            "{" + ",".join("".join(draw.choices(WORDS, k=draw.randint(1, 4))) for _ in range(draw.randint(1, 3))) + "}"
            for _ in range(draw.randint(1, 2))
        )
        text = draw.choice([groups, groups + "*", groups + ",{n,n^2}", "".join(draw.choices(WORDS, k=6))])
        code, lines = outcome(capsys, table, "--parameters", "p,n", "--terms", text)
        assert len(lines) == bool(code), text


@pytest.mark.parametrize("terms", [[], ["--terms", "{n,n^3},{p,1/p}"]])
def test_points(terms, table, capsys):
    for point in POINTS:
        code, lines = outcome(capsys, table, "--parameters", "p,n", *terms, "--predict", point)
        assert len(lines) == bool(code), point
    assert outcome(capsys, table, "--parameters", "p,n", *terms, "--predict", POINTS[0]) == (0, [])


@pytest.mark.parametrize("number", ["1e-308", "-1e-300", "1e101", "-1e300", "inf", "9" * 400])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_numbers_whose_squares_are_none(number, column, table, capsys):
    row = ["16", "400", "3"]
    row[column] = number
    table.write_text(table.read_text() + "\n" + ",".join(row) + "\n")
    code, (line,) = outcome(capsys, table, "--parameters", "p,n")
    assert code == 1
    assert f"column {['p', 'n', 'time'][column]!r} has numbers that are too" in line


def test_a_parameter_below_zero_needs_described_terms(table, capsys):
    table.write_text(table.read_text() + "\n-4,100,3\n")
    code, (line,) = outcome(capsys, table, "--parameters", "p,n")
    assert code == 1 and "p has values below 0" in line and "--terms" in line
    assert outcome(capsys, table, "--parameters", "p,n", "--terms", "{p,p^2,n}") == (0, [])
