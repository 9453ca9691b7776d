"""Kinds of bursts that were planted, the sample, k-means by hand, and the views of a trace by its kinds."""

import json
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from phased import write_phases
from thread_team import by_team

from analyzer.burst_clusters import clustering as sampling
from analyzer.burst_clusters.bursts import bursts
from analyzer.burst_clusters.clustering import DBSCAN, KMEANS, draw_sample, find_clusters
from analyzer.burst_clusters.model import NOISE, SHORT, read_clusters, write_clusters
from analyzer.burst_clusters.views import OnlyCluster, WithClusters, clusters_path
from analyzer.errors import TracelibError
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace.chosen import Choice

ONE = Team()
INSTRUCTIONS, CYCLES = "42000050", "42000059"
KINDS = [(100_000, 1.0), (1_000_000, 0.5), (1_000_000, 2.0)]
"""Duration in ns, IPC."""
PHASES, RANKS = 60, 4


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A .prv of three kinds, each within 2 %, whose counters a .pcf names; and the kind of each burst."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 3, (PHASES, RANKS))
    durations = np.array([ns for ns, _ in KINDS])[truth]
    durations = np.rint(durations * rng.uniform(0.98, 1.02, truth.shape)).astype(np.int64)
    instructions = durations * 2 * np.array([ipc for _, ipc in KINDS])[truth] * rng.uniform(0.99, 1.01, truth.shape)
    path = tmp_path_factory.mktemp("planted") / "run.prv"
    write_phases(path, durations, 1000, instructions)
    names = "".join(f"EVENT_TYPE\n7 {n} {name}\n\n" for n, name in ((INSTRUCTIONS, "INS"), (CYCLES, "CYC")))
    path.with_suffix(".pcf").write_text(names)
    return path, truth


def opened(path, **options):
    return open_trace(path, **options)


def rand_index(a, b):
    """Return the share of all pairs on which two labellings agree."""
    agree = [(a[i] == a[j]) == (b[i] == b[j]) for i, j in combinations(range(len(a)), 2)]
    return np.mean(agree)


def labelled(trace, found):
    """(phase, rank) -> label, by the order of each rank's bursts."""
    labels = np.full((PHASES, RANKS), -9)
    for part in bursts(trace, range(RANKS), found.clusters.counters):
        of_part = found.clusters.label(part.values)
        for rank in range(RANKS):
            mine = part.states["rank"] == rank
            labels[: mine.sum(), rank] = of_part[mine]
    return labels


@pytest.mark.parametrize("options", [{"method": DBSCAN}, {"method": KMEANS, "kinds": 3}])
def test_planted_kinds_are_found(planted, options):
    path, truth = planted
    trace = opened(path)
    found = find_clusters(trace, ONE, counters=("INS",), **options)
    labels = labelled(trace, found)
    assert rand_index(labels.ravel(), truth.ravel()) == 1
    assert len(found.kinds) == 3 and not found.noise.count and not found.short.count
    assert [kind.time_ns for kind in found.kinds] == sorted((k.time_ns for k in found.kinds), reverse=True)
    assert found.kinds[-1].count == (truth == 0).sum()  # the short ones are the least in sum
    assert found.kinds[-1].by_rank.tolist() == (truth == 0).sum(axis=0).tolist()
    trace.close()


def test_without_the_counter_two_kinds_are_one(planted):
    path, truth = planted
    trace = opened(path)
    found = find_clusters(trace, ONE)
    assert rand_index(labelled(trace, found).ravel(), np.minimum(truth, 1).ravel()) == 1
    trace.close()


def test_a_team_finds_the_same(planted):
    path, _ = planted

    def work(team):
        trace = opened(path, team=team)
        found = find_clusters(trace, team, counters=("INS", "CYC"))
        trace.close()
        return found

    alone = work(ONE)
    for found in by_team(3, work):
        assert (found.clusters.points == alone.clusters.points).all()
        assert [k.values.tolist() for k in found.kinds] == [k.values.tolist() for k in alone.kinds]
        assert [k.by_rank.tolist() for k in found.kinds] == [k.by_rank.tolist() for k in alone.kinds]


def barriers(durations):
    """Build the calls of a rank that computes for each duration before a barrier, which takes 10 ns."""
    calls, time = [], 0
    for duration in durations:
        calls.append(("MPI_Barrier", time + duration, time + duration + 10, {"comm": 0}))
        time += duration + 10
    return calls


@settings(max_examples=25)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=80), st.integers(50, 5000))
def test_sums_are_those_of_all_bursts(durations, window):
    """Whatever the windows, each burst is in one kind, in the noise or too short."""
    trace = MemoryTrace([barriers(durations), barriers(durations[::-1])], window=window * 1000)
    found = find_clusters(trace, ONE, shortest_ns=1000)
    every = [*found.kinds, found.noise, found.short]
    assert sum(kind.count for kind in every) == 2 * len(durations)
    assert sum(kind.time_ns for kind in every) == 2 * sum(durations)
    assert found.short.count == 2 * sum(duration < 1000 for duration in durations)
    labels = found.clusters.label(np.array(durations, float)[:, None])
    for kind in every:
        assert (labels == kind.number).sum() * 2 == kind.count


def test_a_sample_has_rare_long_bursts(monkeypatch):
    """A sample of 100 from 4000 short bursts and two long ones contains the long ones."""
    monkeypatch.setattr(sampling, "SIZE", 100)
    durations = [1000 + k % 7 for k in range(4000)]
    durations[1234] = durations[2345] = 10**6
    found = draw_sample(MemoryTrace([barriers(durations)], window=10**6), ONE)
    assert len(found) <= 100 and (found[:, 0] == 10**6).sum() == 2
    assert (found[:, 0] < 2000).sum() > 40


def test_k_means_by_hand():
    """Two groups: centroids are the means of ln(duration), and a burst belongs to the nearer."""
    trace = MemoryTrace([barriers([100, 110, 10_000, 12_000])])
    found = find_clusters(trace, ONE, method=KMEANS, kinds=2)
    by_hand = [np.log([10_000, 12_000]).mean(), np.log([100, 110]).mean()]
    centres = found.clusters.points[np.argsort(found.clusters.kinds), 0] * found.clusters.scale[0]
    assert centres == pytest.approx(by_hand)
    middle = np.exp(np.mean(by_hand))
    assert found.clusters.label(np.array([[middle * 1.01], [middle * 0.99]])).tolist() == [1, 2]
    assert len(find_clusters(trace, ONE, method=KMEANS, kinds=9).kinds) == 4


def test_noise_and_short_ones_are_of_no_kind():
    """50 bursts of 1 ms, one of 3 ms, and many of 10 ns, which are too short."""
    trace = MemoryTrace([barriers([10**6] * 50 + [3 * 10**6] + [10] * 5000)])
    found = find_clusters(trace, ONE, shortest_ns=11)
    assert [(k.count, k.number) for k in (*found.kinds, found.noise, found.short)] == [
        (50, 1),
        (1, NOISE),
        (5000, SHORT),
    ]


def test_the_file_gives_the_same_labels(planted, tmp_path):
    path, _ = planted
    trace = opened(path)
    for method in (DBSCAN, KMEANS):
        found = find_clusters(trace, ONE, method=method, counters=("INS",)).clusters
        write_clusters(found, tmp_path / "x.json")
        again = read_clusters(tmp_path / "x.json", trace)
        for part in bursts(trace, range(RANKS), ("INS",)):
            assert again.label(part.values).tolist() == found.label(part.values).tolist()
    with pytest.raises(TracelibError, match="there is no"):
        read_clusters(tmp_path / "y.json", trace)
    (tmp_path / "y.json").write_text('{"format": "tracelib-other"}')
    with pytest.raises(TracelibError, match="does not hold clusters"):
        read_clusters(tmp_path / "y.json", trace)
    with pytest.raises(TracelibError, match="of another run"):
        read_clusters(tmp_path / "x.json", MemoryTrace([barriers([10])]))
    data = json.loads((tmp_path / "x.json").read_text())
    (tmp_path / "y.json").write_text(json.dumps(data | {"kinds": [1]}))
    with pytest.raises(TracelibError, match="does not hold clusters"):
        read_clusters(tmp_path / "y.json", trace)
    trace.close()


def test_events_say_each_burst_and_its_end(planted):
    """Pairs of begin and end in any windows, with the values of BSC's tools: kind k is k + 5."""
    path, _ = planted
    trace = opened(path)
    found = find_clusters(trace, ONE, counters=("INS",))
    annotated = WithClusters(trace, found.clusters)
    edges = np.linspace(0, trace.duration_ns + 1, 14).astype(int).tolist()
    rows = np.concatenate([annotated.events(a, b) for a, b in pairwise(edges)])
    rows = rows[rows["type"] == 90000001]
    labels = labelled(trace, found)
    for rank in range(RANKS):
        mine = rows[rows["rank"] == rank]["value"]
        assert mine[1::2].tolist() == [0] * PHASES
        assert mine[::2].tolist() == (labels[:, rank] + 5).tolist()
    assert annotated.event_labels[90000001][1][6] == "Cluster 1"
    trace.close()


def test_only_one_kind_computes(planted):
    """The useful time is that of the kind, and all kinds together are all of it."""
    path, _ = planted
    trace = opened(path)
    found = find_clusters(trace, ONE, counters=("INS",))
    of_kinds = [useful(OnlyCluster(trace, found.clusters, k.number), ONE).time_ns.sum() for k in found.kinds]
    assert of_kinds == [kind.time_ns for kind in found.kinds]
    assert sum(of_kinds) == useful(trace, ONE).time_ns.sum()
    write_clusters(found.clusters, clusters_path(path))
    chosen = opened(path, choice=Choice("", (), 2))
    assert useful(chosen, ONE).time_ns.sum() == of_kinds[1]
    chosen.close()
    with pytest.raises(TracelibError, match="has no cluster 4"):
        opened(path, choice=Choice("", (), 4))
    clusters_path(path).unlink()
    with pytest.raises(TracelibError, match="there is no"):
        opened(path, choice=Choice("", (), 1))
    trace.close()
