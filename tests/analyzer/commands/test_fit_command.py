"""`analyze fit`: table, JSON, predictions, files, and what it says of bad input."""

import json

import numpy as np
import pytest

from analyzer.cli import main
from analyzer.models.model_file import read_model


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(1)
    rows = [(p, n, (2 + 1e-3 * n * p) * (1 + 0.01 * random.standard_normal())) for p in (2, 4, 8, 16, 32) for n in
            (10, 20, 40, 80) for _ in range(3)]  # fmt: skip
    path = tmp_path / "t.csv"
    path.write_text("p,n,time\n" + "".join(f"{p},{n},{time:.6g}\n" for p, n, time in rows))
    return path


def run(capsys, *words):
    code = main(["fit", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_json_has_model_terms_criterion_error_and_predictions(table, capsys):
    code, out, _ = run(
        capsys, table, "--observable", "time", "--parameters", "p,n", "--json", "--predict", "p=128,n=80",
        "--predict", "n=320,p=512",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert set(found["terms"]) == {"1", "n*p"}
    assert "n*p" in found["model"] and found["criterion"]["name"] == "evidence"
    assert 0.005 < found["cross_validation_error"] < 0.02
    for prediction, truth in zip(found["predictions"], (2 + 10.24, 2 + 163.84), strict=True):
        assert prediction["value"] == pytest.approx(truth, rel=0.05)
        assert prediction["interval"][0] <= truth <= prediction["interval"][1]
    assert found["predictions"][1]["at"] == {"n": 320, "p": 512}


def test_described_terms_have_importance_and_a_best_of_each_size(table, capsys):
    words = [table, "--parameters", "p,n", "--terms", "{n,n^2},{p}"]
    found = json.loads(run(capsys, *words, "--json")[1])
    assert found["models_tried"] == 63
    assert found["criterion"]["name"] == "aicc"
    assert {c["term"]: c["importance"] for c in found["candidates"]}["n*p"] == pytest.approx(1, abs=1e-3)
    assert [len(best["terms"]) for best in found["per_size"]] == [1, 2, 3, 4, 5, 6]
    _, out, _ = run(capsys, *words)
    assert "Importance of terms" in out and "Best of each size" in out and "63 models of 6 terms" in out
    genetic = json.loads(run(capsys, *words, "--json", "--search", "genetic", "--searches", "2")[1])
    assert genetic["terms"] == found["terms"]
    assert len(genetic["search"]["scores"]) == 2


def test_files_are_written_and_replaced(table, capsys, tmp_path):
    for _ in range(2):
        code, _, _ = run(capsys, table, "--parameters", "p,n", "-o", tmp_path / "m", "--terms", "{n},{p}")
        assert code == 0
    names = ["m.c", "m.model.json", "m.png", "m.py", "m.tex"]
    assert sorted(path.name for path in tmp_path.glob("m.*")) == names
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    assert read_model(tmp_path / "m.model.json").predict(p=4, n=10) == pytest.approx(2.04, rel=0.02)
    (tmp_path / "m.c").write_text("int precious;")
    code, _, err = run(capsys, table, "--parameters", "p,n", "-o", tmp_path / "m")
    assert code == 1 and "m.c exists" in err
    assert (tmp_path / "m.c").read_text() == "int precious;"


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        ("p,time\n1,2\n2,3\n3,4\n", ["--parameters", "q"], "no column 'q'"),
        ("p,time\n1,2\n2,x\n3,4\n", ["--parameters", "p"], "not all numbers"),
        ("p,time\n1,2\n", ["--parameters", "p"], "1 rows"),
        ("", ["--parameters", "p"], "is no table"),
        ('p,time\n"1,2\n', ["--parameters", "p"], "is no table"),
        ("\x00\x01\x02", ["--parameters", "p"], "no column 'time'"),
        ("p,time\n1,2\n2,3\n3,4\n", ["--parameters", "p", "--terms", "p"], "cannot be read from 'p'"),
        ("p,time\n1,2\n2,3\n3,4\n4,5\n5,5\n", ["--parameters", "p", "--terms", "{n}"], "which is no parameter"),
        ("p,time\n1,2\n2,3\n3,4\n", ["--parameters", "p", "--predict", "n=3"], "needs a value of each of p"),
        ("p,time\n1,2\n2,3\n3,4\n", ["--parameters", "p", "--predict", "p=x"], "not a point"),
        ("p,time\n0,2\n0,3\n0,4\n0,5\n", ["--parameters", "p", "--terms", "{p}*"], "no term has a value"),
        ("p,time\n1,2\n2,3\n3,0\n4,5\n5,5\n", ["--parameters", "p", "--terms", "{p}"], "is 0 in some rows"),
    ],
)
def test_bad_input_is_one_line(text, words, says, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text(text)
    code, out, err = run(capsys, path, *words)
    assert code != 0 and not out
    assert says in err and err.count("\n") == 1


def test_a_file_that_is_not_there(tmp_path, capsys):
    code, _, err = run(capsys, tmp_path / "none.csv", "--parameters", "p")
    assert code == 1 and "cannot read" in err
