"""`analyze loggp` of a network measurement: table, JSON, model and picture, and what it says of wrong files."""

import json
import re
import struct

import h5py
import numpy as np
import pytest
from paths import ROOT
from synthetic import write_run
from synthetic_net import LARGE, LARGE_SIZES, SMALL, SMALL_SIZES, US, measured, write_net

from analyzer.cli import main
from analyzer.loggp.model import LoOgGP
from analyzer.network_measurement.broadcast_models import ALGORITHMS, broadcast_time
from analyzer.network_measurement.collectives import link_at
from analyzer.network_measurement.estimate import estimates
from analyzer.network_measurement.intervals.detectors import clusters
from analyzer.network_measurement.options import DEFAULTS, DETECTORS
from analyzer.report.pictures.files import new_figure
from analyzer.report.pictures.network import draw_tree
from tracelib.schema import net

SIZES = LARGE_SIZES[::2]
KEPT = ROOT / "benchmarks" / "data" / "broadcasts.h5"


@pytest.fixture(scope="module")
def rows():
    return measured(LARGE["IB+OpenMPI"], SIZES, 0, 0.01, times=4)


def test_the_file_alone_is_enough(tmp_path, rows, capsys):
    path = write_net(tmp_path / "anything.dat", rows)
    assert main([str(path)]) == 0
    shown = capsys.readouterr().out
    assert "Within nodes: 1 pair of ranks, 65 sizes up to 196 KiB, 260 rows" in shown
    table = [line.split() for line in shown.splitlines() if " to " in line and "±" in line]
    last = max(size for size in SIZES.tolist() if size <= 11265)
    assert [(row[0], row[2]) for row in table] == [("1", str(last)), (str(SIZES[last < SIZES][0]), str(SIZES[-1]))]
    assert [float(row[k]) for row in table for k in (3, 5, 7, 9)] == pytest.approx(
        [5.98, 1.75, 8.72, 1.96, 41.66, 2.01, 43.28, 2.03], rel=0.02
    )
    assert "certain" in shown and "Hockney" in shown
    assert max(map(len, shown.splitlines()[1:-1])) <= 80
    model = LoOgGP.read(tmp_path / "anything.dat.intra.json")
    assert model.latency_s == pytest.approx(6.1e-6, rel=0.01) and model.about["where"] == "intra"
    with (tmp_path / "anything.dat.intra.png").open("rb") as picture:
        assert picture.read(8) == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">8x2I", picture.read(16))
        assert width > 500 and height > 500


def test_the_tree_of_clusters(tmp_path, rows, capsys):
    """Leaves say their sizes and rows, all rows are there; the line cuts as many branches as there are clusters."""
    path = write_net(tmp_path / "net.h5", rows)
    assert main(["loggp", str(path), "--detector", "all"]) == 0
    picture = tmp_path / "net.intra.clusters.png"
    assert str(picture) in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")
    _, of, _ = estimates(rows, DETECTORS)
    found = clusters(of.curves, of.sample, DEFAULTS)
    axes = new_figure().subplots()
    draw_tree(found, axes)
    labels = [re.fullmatch(r"(\d+)(?:-(\d+))? \((\d+)\)", label.get_text()) for label in axes.get_xticklabels()]
    assert sum(int(label[3]) for label in labels) == len(found.size)
    assert {int(label[1]) for label in labels} | {int(label[2] or label[1]) for label in labels} <= set(SIZES.tolist())
    (line,) = [line.get_ydata()[0] for line in axes.lines]
    joined = [segment for collection in axes.collections for segment in collection.get_segments()]
    branches = [(ends[0][1], ends[1][1]) for s in joined for ends in (s[:2], s[:1:-1])]
    assert sum(low < line < high for low, high in branches) == found.labels.max() + 1


def test_without_the_thesis_detector_there_is_no_tree(tmp_path, rows):
    path = write_net(tmp_path / "net.h5", rows)
    assert main(["loggp", str(path), "-q"]) == 0
    assert not (tmp_path / "net.intra.clusters.png").exists()


def test_numbers(tmp_path, rows, capsys):
    path = write_net(tmp_path / "net.h5", rows)
    assert main(["loggp", str(path), "--json", "-o", str(tmp_path / "out.json")]) == 0
    said = json.loads(capsys.readouterr().out)
    (model,) = said["models"]
    first, second = model["intervals"]
    assert first["o_s"] == pytest.approx(5.98 * US, rel=0.01)
    for name in ("o_s", "O_s_per_byte", "g_s", "G_s_per_byte"):
        assert first[f"{name}_ci"][0] < first[name] < first[f"{name}_ci"][1]
    assert model["changes"][0]["after_bytes"] == first["to_bytes"] < second["from_bytes"]
    assert (model["sizes"], model["rows"], model["pairs"]) == (65, 260, [[0, 1]])
    assert model["errors"]["gap"]["median"] < 0.02 and model["hockney"]["alpha_s"] > 0
    assert said["files"] == [str(tmp_path / f"out.intra.{ending}") for ending in ("json", "png")]
    file = json.loads((tmp_path / "out.intra.json").read_text())
    assert file.items() <= model.items()


def test_pairs_within_and_between_nodes(tmp_path, rows, capsys):
    """The third pair, between nodes, has twice the gap of the fourth."""
    parts = [rows.copy() for _ in range(4)]
    for pair, part in enumerate(parts):
        part["pair"] = pair
    parts[2]["train_s"] += 31 * LARGE["IB+OpenMPI"].times(rows["size"])[1]
    pairs = [(0, 1, "intra"), (2, 3, "intra"), (0, 2, "inter"), (3, 1, "inter")]
    path = write_net(tmp_path / "net.h5", np.concatenate(parts), pairs)
    assert main(["loggp", str(path)]) == 0
    shown = capsys.readouterr().out
    within, between = shown.split("Between nodes: 2 pairs")
    assert "Within nodes: 2 pairs" in within
    gaps = {line.split()[0]: float(line.split()[-1]) for line in between.splitlines() if " x " in line}
    assert gaps["0,"] == pytest.approx(2 * gaps["3,"], rel=0.05)
    assert {p.name for p in tmp_path.glob("*.json")} == {"net.intra.json", "net.inter.json"}

    assert main(["loggp", str(path), "--pair", "1,3", "--json", "-o", str(tmp_path / "one")]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert (model["where"], model["pairs"]) == ("inter", [[3, 1]])
    assert main(["loggp", str(path), "--pair", "0,3"]) == 1
    assert "no rows of ranks 0 and 3" in capsys.readouterr().err


def test_all_detectors_in_one_table(tmp_path, capsys):
    path = write_net(tmp_path / "net.h5", measured(LARGE["GB+OpenMPI"], SIZES, 0, 0.01, times=4))
    options = ["--window", "0.15", "--method", "single", "--metric", "euclidean", "--threshold", "0.2"]
    assert main(["loggp", str(path), "--detector", "all", *options]) == 0
    shown = capsys.readouterr().out
    table = {line.split()[0]: line.split()[1] for line in shown.splitlines()[3:7]}
    last = max(size for size in SIZES.tolist() if size <= 63489)
    assert table["changepoint"] == str(last)
    assert {"thesis", "netgauge"} < set(table)
    assert json.loads((tmp_path / "net.intra.json").read_text())["detector"] == "changepoint"


def test_the_thesis_filter(tmp_path, capsys):
    path = write_net(tmp_path / "net.h5", measured(SMALL["IB+MVAPICH"], SMALL_SIZES[::6], 0, 0.01, times=4))
    assert main(["loggp", str(path), "--filter", "negative,deviation,neighbourhood", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"][0]["latency_s"] == pytest.approx(7.8e-6, rel=0.02)
    assert main(["loggp", str(path), "--filter", "none", "-q"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["loggp", str(path), "--filter", "rule4"]) == 2
    assert "'rule4' is not one of typical, negative" in capsys.readouterr().err


def test_nothing_of_others_is_replaced(tmp_path, rows, capsys):
    path = write_net(tmp_path / "net.h5", rows)
    (tmp_path / "net.intra.json").write_text('{"mine": 1}')
    assert main(["loggp", str(path)]) == 1
    assert "net.intra.json exists and is not" in capsys.readouterr().err
    assert not (tmp_path / "net.intra.png").exists()
    assert main(["loggp", str(path), "-q", "--force"]) == 0
    assert main(["loggp", str(path), "-q"]) == 0, "its own files are"


def damaged(path, change):
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def spoil(file, column, value):
    """A value in one row."""
    rows = file["rows"][:]
    rows[column][5] = value
    file["rows"][:] = rows


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda file: file.attrs.__setitem__("version", 99), "later version"),
        (lambda file: file.__delitem__("pairs"), "damaged"),
        (lambda file: (file.__delitem__("rows"), file.create_dataset("rows", data=np.zeros(0, net.ROW))), "no rows"),
        (lambda file: (file.__delitem__("rows"), file.create_dataset("rows", data=np.zeros(3, "<i4"))), "no column"),
        (lambda file: (file.__delitem__("pairs"), file.create_dataset("pairs", data=np.zeros(0, net.PAIR))), "pairs"),
        (lambda file: file.attrs.__setitem__("command", np.zeros(3)), "command is neither text nor a number"),
        (lambda file: spoil(file, "size", 0), "impossible sizes or numbers of messages"),
        (lambda file: spoil(file, "train", 1), "impossible sizes or numbers of messages"),
        (lambda file: spoil(file, "one_s", np.nan), "times that cannot be"),
        (lambda file: spoil(file, "one_s", 1e200), "times that cannot be"),
    ],
)
def test_damaged_files_are_one_line(tmp_path, rows, capsys, change, says):
    path = damaged(write_net(tmp_path / "net.h5", rows), change)
    assert main(["loggp", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("Error: ") and says in error and error.count("\n") == 1


def test_a_measurement_is_no_trace_and_a_trace_no_measurement(tmp_path, rows, capsys):
    path = write_net(tmp_path / "net.h5", rows)
    assert main(["look", "--no-files", str(path)]) == 1
    assert "is a measurement of the network, not a trace (analyze loggp" in capsys.readouterr().err
    run = write_run(tmp_path, [{"calls": []}])
    assert main(["loggp", str(run), "--pair", "0,1"]) == 1
    assert "is not a measurement of the network" in capsys.readouterr().err


def test_timed_broadcasts_stand_beside_the_models(tmp_path, rows, capsys):
    """Broadcasts kept in the repository, in a measurement of another network: each setting's model by its formula."""
    path = write_net(tmp_path / "net.h5", rows)
    with h5py.File(KEPT) as kept, h5py.File(path, "a") as file:
        file["broadcasts"] = kept["broadcasts"][:]
    assert main(["loggp", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert "collectives" not in said
    assert {name: a["settings"] for name, a in said["broadcasts"]["models"].items()} == dict.fromkeys(ALGORITHMS, 81)
    network = LoOgGP.read(tmp_path / "net.intra.json")
    for m in said["broadcasts"]["settings"][::20]:
        link = link_at(network, m["segment_bytes"])
        time_s = broadcast_time(m["name"], link, m["ranks"], m["segments"], m["segment_bytes"])
        assert m["model_s"] == pytest.approx(time_s)
