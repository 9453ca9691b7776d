"""A stored model in commands: beside another one, at every row of a table, for `schedule`."""

import csv
import json
import math

import numpy as np
import pytest

from analyzer.cli import main
from analyzer.models.model_file import read_model


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """runs.csv: time = (2 + 3 n^2 / p) with noise of 2 %, as p, n, time; and the stored model of these terms."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    settings = [(p, n) for p in (1, 2, 4, 8) for n in (2, 4, 8)]
    rows = [(p, n, (2 + 3 * n * n / p) * (1 + 0.02 * random.standard_normal())) for p, n in settings]
    (tmp_path / "runs.csv").write_text("p,n,time\n" + "".join(f"{p},{n},{time!r}\n" for p, n, time in rows))
    assert main(["fit", "runs.csv", "--formula", "mm[0]+mm[1]*n*n/p", "-o", "own", "-q"]) == 0
    return rows


def test_the_parameters_are_those_in_the_terms(runs, capsys):
    assert main(["fit", "runs.csv", "--terms", "{n^2},{1/p}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["parameters"] == ["n", "p"] and "n^2/p" in found["terms"]


def test_terms_of_a_table_of_parts_are_still_of_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"call,MPI_Send,{ranks},{ranks},1,{0.1 * ranks},0,run-{ranks}" for ranks in (2, 4, 8, 16)]
    (tmp_path / "places.csv").write_text("kind,name,ranks,in_ranks,count,time,bytes,run\n" + "\n".join(rows) + "\n")
    assert main(["fit", "places.csv", "--terms", "{ranks}"]) == 0
    assert "4 runs" in capsys.readouterr().out


def test_a_formula_says_its_coefficients(runs, capsys):
    assert main(["fit", "runs.csv", "--formula", "mm[0]+mm[1]*n*n/p", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["formula"]
    assert (first["coefficient"], first["term"]) == ("mm[0]", "1")
    assert (second["coefficient"], second["term"]) == ("mm[1]", "n^2/p")
    assert abs(first["value"] - 2) < 4 * first["standard_error"] < 1
    assert abs(second["value"] - 3) < 4 * second["standard_error"] < 0.5
    assert main(["fit", "runs.csv", "--formula", "mm[0]+mm[1]*n*n/p"]) == 0
    said = capsys.readouterr().out
    assert "mm[1]" in said and "standard error" in said and "the only model" in said


def test_the_formula_of_a_pragma(runs, tmp_path, capsys):
    (tmp_path / "mm.c").write_text("#pragma cll mm CLOCK=mm[0]+mm[1]*n*n/p\n#pragma cll io CLOCK=io[0]*n\n")
    assert main(["fit", "runs.csv", "--formula", "mm.c"]) == 2
    assert "states no one formula (it states mm, io: --region names one)" in capsys.readouterr().err
    (tmp_path / "all.csv").write_text(
        "region,p,n,time\n" + "".join(f"mm,{p},{n},{t}\nio,{p},{n},{5 * n}\n" for p, n, t in runs)
    )
    assert main(["fit", "all.csv", "--formula", "mm.c", "--region", "io", "--json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)["formula"]
    assert only["coefficient"] == "io[0]" and only["value"] == pytest.approx(5)


def test_every_row_of_a_table(runs, tmp_path, capsys):
    (tmp_path / "more.csv").write_text("p,n,time\n1,2,14\n4,16,200\n2,4,\n,8,1\n")
    assert main(["fit", "own.model.json", "more.csv", "-o", "with.csv"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 of 4 rows have no expected value" in said and "n from 2 to 8; p from 1 to 8): 1 of 4 rows" in said
    with (tmp_path / "with.csv").open() as file:
        rows = list(csv.DictReader(file))
    model = read_model("own.model.json")
    for row, (p, n) in zip(rows, [(1, 2), (4, 16), (2, 4)], strict=False):
        known = model.prediction(p=p, n=n)
        wanted = (known.value, *known.interval)
        got = tuple(float(row[f"time_{ending}"]) for ending in ("expected", "low", "high"))
        assert got == pytest.approx(wanted)
    assert rows[3]["time_expected"] == "" and float(rows[3]["time"]) == 1
    assert main(["fit", "own.model.json", "more.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    first, second = 14 / model.predict(p=1, n=2) - 1, 200 / model.predict(p=4, n=16) - 1
    assert found["difference"]["mean"] == pytest.approx((first + second) / 2)
    assert found["difference"]["rms"] == pytest.approx(math.sqrt((first**2 + second**2) / 2))
    assert [row["beyond"] for row in found["rows"]] == [False, True, False, False]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["own.model.json", "q.csv"], "has no column p, which the model needs"),
        (["own.model.json", "with.csv", "-o", "new.csv"], "has a column time_low already"),
        (["own.model.json", "runs.csv", "-o", "new.txt"], "is no name of a table"),
        (["own.model.json", "runs.csv", "--terms", "{n}"], "it takes one table"),
        (["own.model.json", "-o", "new.csv"], "it takes --predict, or a table after it"),
        (["runs.csv", "--formula", "c[0]*n", "--terms", "{n}"], "--formula is one model"),
        (["runs.csv", "--formula", "c[0]*q"], "no column 'q'"),
        (["runs.csv", "--parameters", "n", "--compare", "own.model.json"], "is a model of p, too"),
    ],
)
def test_what_does_not_fit_is_one_line_and_leaves_nothing(words, says, runs, tmp_path, capsys):
    (tmp_path / "q.csv").write_text("q,n,time\n1,2,3\n")
    (tmp_path / "with.csv").write_text("p,n,time,time_low\n1,2,3,4\n")
    before = sorted(tmp_path.iterdir())
    assert main(["fit", *words]) != 0
    said = capsys.readouterr()
    assert says in said.err and said.err.count("\n") == 1 and not said.out
    assert sorted(tmp_path.iterdir()) == before


def test_two_models_in_one_picture(runs, tmp_path, capsys):
    """The other model's line is in the picture, and its differences equal the rows'."""
    assert main(["fit", "runs.csv", "--terms", "{n}*", "-o", "alone"]) == 0
    compared = ["fit", "runs.csv", "--parameters", "p,n", "--terms", "{n}*", "--compare", "own.model.json"]
    assert main([*compared, "-o", "both"]) == 0
    assert (tmp_path / "both.png").stat().st_size > 1000
    said = capsys.readouterr().out
    assert "this one" in said and "own" in said.split("this one")[1]
    assert main([*compared, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["compared"]
    model = read_model("own.model.json")
    away = np.array([time / model.predict(p=p, n=n) - 1 for p, n, time in runs])
    assert second["name"] == "own" and second["mean"] == pytest.approx(away.mean())
    assert second["rms"] == pytest.approx(np.sqrt(np.mean(away**2))) and first["rms"] > second["rms"]


def test_lines_of_compared_models(runs):
    """The picture has a broken line with the name of the model, through its expected values."""
    from matplotlib.figure import Figure

    from analyzer.commands.model._measured_table import read_measured
    from analyzer.models.study import study
    from analyzer.report.pictures.fit import draw_model

    other = read_model("own.model.json")
    found = study(read_measured("runs.csv", None), "time", ["p", "n"], "{n}*")
    axes = Figure().add_subplot()
    draw_model(found, {"own": other}, "n", axes)
    broken = [line for line in axes.lines if line.get_linestyle() == "--" and line.get_label() == "own"]
    (line,) = broken
    x, y = line.get_xdata(), line.get_ydata()
    assert y[7] == pytest.approx(other.predict(p=1, n=x[7]))


def test_xml_of_tia_is_fitted_and_predicted(runs, tmp_path, capsys):
    headers = "<headers><h>CLOCK</h><h>p</h><h>n</h></headers>"
    rows = "".join(f"<row><c>{t}</c><c>{p}</c><c>{n}</c></row>" for p, n, t in runs)
    (tmp_path / "mm.xml").write_text(
        f'<?xml version="1.0"?>\n<cll_data program="mm"><cll_experiment name="mm"><machines/>{headers}'
        f"<sample>{rows}</sample></cll_experiment></cll_data>"
    )
    assert main(["fit", "mm.xml", "--terms", "{n^2/p}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["fit", "runs.csv", "--terms", "{n^2/p}", "--json"]) == 0
    same = json.loads(capsys.readouterr().out)
    assert found["observable"] == "CLOCK" and found["coefficients"] == pytest.approx(same["coefficients"])
    assert main(["fit", "own.model.json", "mm.xml", "--json"]) == 0
    predicted = json.loads(capsys.readouterr().out)["rows"]
    assert [row["measured"] for row in predicted] == pytest.approx([time for *_, time in runs])


def test_runs_of_a_schedule_are_predicted(tmp_path, monkeypatch, capsys):
    """The same answer as with the predictions in a column."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(2)
    settings = [(p, n) for p in (1, 2, 4) for n in (100, 400, 900)]
    rows = [(p, n, (10 + 0.02 * n * n / p) * (1 + 0.05 * random.standard_normal())) for p, n in settings]
    (tmp_path / "app.csv").write_text("nodes,n,run_s\n" + "".join(f"{p},{n},{t}\n" for p, n, t in rows))
    words = ["fit", "app.csv", "--observable", "run_s", "--formula", "c[0]+c[1]*n*n/nodes", "-o", "app", "-q"]
    assert main(words) == 0
    model = read_model("app.model.json")
    (tmp_path / "by_hand.csv").write_text(
        "nodes,run_s,app\n" + "".join(f"{p},{t},{model.predict(nodes=p, n=n)!r}\n" for p, n, t in rows)
    )
    small = ["--workloads", "2", "--jobs", "60", "--json"]
    assert main(["schedule", "--runs", "app.csv", "--model", "app.model.json", *small]) == 0
    predicted = json.loads(capsys.readouterr().out)
    assert main(["schedule", "--runs", "by_hand.csv", *small]) == 0
    assert predicted == json.loads(capsys.readouterr().out)
    assert main(["schedule", "--model", "app.model.json"]) == 2
    assert "--model predicts runs of a table" in capsys.readouterr().err
