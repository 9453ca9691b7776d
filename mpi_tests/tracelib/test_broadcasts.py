"""Broadcasts along trees under real MPIs: what arrives, and who sends what to whom as the tracer saw it."""

from collections import Counter, defaultdict
from itertools import pairwise

import h5py
import numpy as np
import pytest
from building import source_of

from analyzer.opening import open_trace
from tracelib.collectives.trees import ALGORITHMS, node


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_trees_as_the_tracer_sees_them(name, request, traced):
    """(P - 1) segments each, along the tree's edges: 20 segments of 1000 bytes, and one of 500."""
    leg = request.getfixturevalue(name)
    program = source_of("broadcasts.py")
    run = traced(leg, leg.python, str(program), "20500", "1000", env={"PYTHONPATH": str(request.config.rootpath)})
    assert run.finished.stdout.split() == [word for algorithm in ALGORITHMS for word in (algorithm, "True")]
    found = messages_by_edge(run.run)
    assert len(found) == len(ALGORITHMS)
    for algorithm, edges in zip(ALGORITHMS, found, strict=True):
        assert edges == {(node(algorithm, r, leg.ranks).parent, r): {1000: 20, 500: 1} for r in range(1, leg.ranks)}


def messages_by_edge(path) -> list[dict[tuple[int, int], Counter]]:
    """For each communicator in order of use: by (source, destination) how many messages of each size."""
    trace = open_trace(path)
    found: dict[int, dict[tuple[int, int], Counter]] = defaultdict(lambda: defaultdict(Counter))
    for begin, end in pairwise(trace.windows().tolist()):
        for row in trace.messages(begin, end):
            found[int(row["comm"])][int(row["source"]), int(row["destination"])][int(row["size"])] += 1
    trace.close()
    return list(found.values())


@pytest.mark.parametrize(("name", "over"), [("openmpi", [3]), ("mpich", [2])])
def test_a_measurement(name, over, request, launch, tmp_path):
    """All that is asked for is in the file: whole, right, with positive times and a responder that is not the root."""
    leg = request.getfixturevalue(name)
    words = ["-m", "tracelib.ngmpi", "-q", "-n", "16", "-l", "1", "--collective", "bcast,scatter",
             "--broadcast", ",".join(ALGORITHMS), "--over", ",".join(map(str, over)), "--bytes", "4K,6K",
             "--segments", "0,2K", "--iterations", "10", "--repeat", "1"]  # fmt: skip
    environment = {"PYTHONPATH": str(request.config.rootpath)}
    launch(leg, leg.python, *words, ranks=max(over), preload=False, env=environment).check()
    with h5py.File(tmp_path / "ngmpi.h5") as file:
        collectives, broadcasts = file["collectives"][:], file["broadcasts"][:]
    settings = {(a.decode(), p, b, s) for a, p, b, s in broadcasts[["algorithm", "ranks", "bytes", "segment_bytes"]]}
    pieces = [(4096, 4096), (4096, 2048), (6144, 6144), (6144, 2048)]
    assert settings == {(a, p, *piece) for a in ALGORITHMS for p in over for piece in pieces}
    assert len(broadcasts) == len(settings)
    assert sorted(zip(collectives["name"], collectives["bytes"], strict=True)) == sorted(
        (n, b) for n in (b"bcast", b"scatter") for b in (4096, 6144) for _ in over
    )
    for rows in (collectives, broadcasts):
        assert rows["right"].all()
        assert (rows["segments"] * rows["segment_bytes"] == rows["bytes"]).all()
        assert (rows["iterations"] == 10).all()
        assert ((rows["responder"] >= 1) & (rows["responder"] < rows["ranks"])).all()
        assert (rows["least_s"] <= rows["median_s"]).all()
        assert (np.minimum(rows["naive_s"], rows["ack_s"]) > 0).all()
        assert (rows["first_s"] >= rows["earliest_s"]).all()
        assert np.median(rows["median_s"]) > 0
