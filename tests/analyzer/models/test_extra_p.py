"""Files of Extra-P: all forms of the same measurements are the same table; an error names its line."""

import json

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.models.table_file import parameters_in, read_table

NUMBERS = st.floats(0.5, 1e6)


@st.composite
def experiments(draw):
    """(parameters, points, {region: {metric: values at each point}}); as many repetitions in each metric."""
    parameters = draw(st.sampled_from([["x"], ["p", "n"], ["x", "y", "z"]]))
    points = draw(st.lists(st.tuples(*[NUMBERS] * len(parameters)), min_size=1, max_size=4, unique=True))
    repetitions = draw(st.integers(1, 3))
    values = st.lists(NUMBERS, min_size=repetitions, max_size=repetitions)
    measured = st.lists(values, min_size=len(points), max_size=len(points))
    regions = draw(st.lists(st.sampled_from(["main", "main->sort", "MPI_Send; tag 1"]), min_size=1, unique=True))
    metrics = draw(st.lists(st.sampled_from(["time", "flops", "bytes sent"]), min_size=1, unique=True))
    return parameters, points, {region: {metric: draw(measured) for metric in metrics} for region in regions}


def in_text(parameters, points, measured):
    lines = ["# made up", *(f"PARAMETER {name}" for name in parameters), ""]
    lines += ["POINTS " + " ".join(f"( {' '.join(map(repr, point))} )" for point in points)]
    for region, metrics in measured.items():
        for metric, values in metrics.items():
            lines += [f"REGION {region}", f"METRIC {metric}"]
            lines += ["DATA " + " ".join(map(repr, one)) for one in values]
    return "\n".join(lines) + "\n"


def each(parameters, points, measured):
    for region, metrics in measured.items():
        for metric, values in metrics.items():
            for point, ones in zip(points, values, strict=True):
                yield from ((dict(zip(parameters, point, strict=True)), metric, region, one) for one in ones)


def in_lines(*experiment):
    return "".join(
        json.dumps({"params": point, "metric": metric, "callpath": region, "value": value}) + "\n"
        for point, metric, region, value in each(*experiment)
    )


def in_talpas(*experiment):
    return "".join(
        f'{{"parameters":{json.dumps(point)};"metric":"{metric}";"callpath":"{region}";"value":{value!r}}}\n'
        for point, metric, region, value in each(*experiment)
    )


def in_json(parameters, points, measured):
    def measurements(values):
        return [{"point": list(p), "values": v} for p, v in zip(points, values, strict=True)]

    said = {region: {m: measurements(v) for m, v in metrics.items()} for region, metrics in measured.items()}
    return json.dumps({"parameters": parameters, "measurements": said}, indent=1)


def in_old_json(parameters, points, measured):
    """Ids need not begin at 1, nor follow each other."""
    regions, metrics = list(measured), list(next(iter(measured.values())))
    pairs = [[{"parameter_id": 3 + k, "parameter_value": v} for k, v in enumerate(point)] for point in points]
    ids = {tuple(point): 10 - k for k, point in enumerate(points)}
    ones = [
        {
            "id": k, "coordinate_id": ids[tuple(point.values())], "callpath_id": 5 + regions.index(region),
            "metric_id": metrics.index(metric), "value": value,
        }
        for k, (point, metric, region, value) in enumerate(each(parameters, points, measured))
    ]  # fmt: skip
    whole = {
        "parameters": [{"id": 3 + k, "name": name} for k, name in enumerate(parameters)],
        "callpaths": [{"id": 5 + k, "name": name} for k, name in enumerate(regions)],
        "metrics": [{"id": k, "name": name} for k, name in enumerate(metrics)],
        "coordinates": [
            {"id": ids[tuple(point)], "parameter_value_pairs": of} for point, of in zip(points, pairs, strict=True)
        ],
        "measurements": ones,
    }
    return json.dumps(whole)


@pytest.mark.parametrize("form", [in_text, in_lines, in_talpas, in_json, in_old_json])
@settings(max_examples=25)
@given(experiment=experiments())
def test_what_is_written_is_read(form, experiment, tmp_path_factory):
    parameters, points, measured = experiment
    path = tmp_path_factory.mktemp("extra-p") / "measured.txt"
    path.write_text(form(*experiment))
    assert parameters_in(path) == parameters
    for region, metrics in measured.items():
        frame = read_table(path, region)
        expected = {name: [point[k] for point in points for _ in next(iter(metrics.values()))[0]] for k, name in
                    enumerate(parameters)}  # fmt: skip
        expected |= {metric: np.ravel(values) for metric, values in metrics.items()}
        order = [*parameters, *metrics]
        found = frame[order].sort_values(order).reset_index(drop=True)
        wanted = pandas.DataFrame(expected)[order].sort_values(order).reset_index(drop=True)
        pandas.testing.assert_frame_equal(found, wanted)


def test_by_hand(tmp_path):
    """Two parameters on one line, points of one parameter without parentheses, no metric and no region."""
    (tmp_path / "a.txt").write_text("PARAMETER p\nPOINTS 1 2\nPOINTS ( 4 )\nDATA 1 2\nDATA 3\nDATA 5\n")
    frame = read_table(tmp_path / "a.txt")
    assert frame.columns.tolist() == ["p", "region", "value"]
    assert frame[["p", "value"]].to_numpy().tolist() == [[1, 1], [1, 2], [2, 3], [4, 5]]
    (tmp_path / "b.txt").write_text("METRIC time\nPARAMETER p n\nPOINTS (1 10) ( 2 10)\nDATA 1\nDATA 2\n")
    assert read_table(tmp_path / "b.txt")[["p", "n", "time"]].to_numpy().tolist() == [[1, 10, 1], [2, 10, 2]]


WRONG = {
    "PARAMETER x\nPOINTS 1 2\nDATA 1\n": "at its end: 1 DATA lines for 2 POINTS",
    "PARAMETER x\nPOINTS 1\nDATA 1\nDATA 2\n": "line 4: more DATA lines than the 1 POINTS",
    "PARAMETER x\nPOINTS ( 1 2 )\n": "line 2: a point of 2 values for 1 parameters",
    "PARAMETER x\nPOINTS ( 1 ) 2\n": "line 2: .* is no list of points",
    "PARAMETER x\nPOINTS 1\nDATA one\n": "line 3: 'one' is not all numbers",
    "PARAMETER x\nPOINTS 1\nDATUM 1\n": "line 3: 'DATUM 1'",
    "PARAMETER x\nPOINTS 1\nPARAMETER y\n": "line 3: a parameter behind POINTS",
    "PARAMETER x\nMETRIC x\nPOINTS 1\nDATA 1\n": "line 4: 'x' is a metric and a parameter",
    "PARAMETER x x\nPOINTS ( 1 2 )\nDATA 1\n": "two columns are called 'x'",
    "PARAMETER x\n": "has no measurements",
    '{"params":{"x":1},"value":2}\n{"params":{"y":1},"value":2}\n': "line 2: parameters y",
    '{"params":{"x":1},"value":2}\n{"params":{"x":1}}\n': "line 2: it has no 'value'",
    '{"params":{"x":1},"value":2}\n{"params":{"x":1},"value":\n': "line 2: no JSON",
    '{"params":{"x":true},"value":2}\n': "'True' is no number",
    '{"params":[1],"value":2}\n': "is no object",
    '{"a": 1}': "it has no 'parameters'",
    '{"parameters": ["x"], "measurements": {"main": {"time": [{"point": [1, 2], "values": [3]}]}}}': "2 values",
    '{"parameters": [], "callpaths": [], "metrics": [], "coordinates": [], "measurements": [{"callpath_id": 1}]}': (
        "callpath_id 1"
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_with_its_line(text, tmp_path):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(TracelibError, match=WRONG[text]):
        read_table(tmp_path / "a.txt")


@pytest.mark.parametrize(("name", "says"), [("profile.cubex", "Cube"), ("e.cube.gz", "Cube"), ("e.extra-p", "saved")])
def test_what_is_refused_by_its_name(name, says, tmp_path, capsys):
    (tmp_path / name).write_bytes(b"\x1f\x8b")
    assert main(["fit", str(tmp_path / name)]) == 1
    assert says in capsys.readouterr().err


def test_the_command(tmp_path, capsys):
    """Parameters are the file's; one of several regions must be named."""

    def run(*arguments):
        main(["fit", *map(str, arguments)])
        said = capsys.readouterr()
        return said.out + said.err

    text = "PARAMETER x\nPOINTS 20 30 40 50 60\nMETRIC time\n"
    text += "REGION a\n" + "".join(f"DATA {2 * x} {2.01 * x}\n" for x in (20, 30, 40, 50, 60))
    (tmp_path / "one.txt").write_text(text)
    assert "time = 2.005*x" in run(tmp_path / "one.txt")
    (tmp_path / "two.txt").write_text(text + "REGION b\n" + "".join(f"DATA {x * x}\n" for x in (20, 30, 40, 50, 60)))
    assert "has 2 regions: a, b" in run(tmp_path / "two.txt")
    assert "time = 1*x^2" in run(tmp_path / "two.txt", "--region", "b", "--predict", "x=100")
    assert "no region 'c'" in run(tmp_path / "two.txt", "--region", "c")
