"""How often loops are passed, from the sequence of calls alone; paths of calls are known where a test says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from loop_programs import program, rank_of
from memory_trace import MemoryTrace

from analyzer.parallel import Team
from analyzer.structure.calls.loops import outermost
from analyzer.structure.calls.rank_loops import loop_of, loops_of
from analyzer.structure.calls.sequence import OutputKind, _outputs, sequence_of
from analyzer.structure.levels.run_structure import IterationMethod, iterations, structure

HALO = ["Irecv 1", "Irecv 2", "Isend 1", "Isend 2", "Waitall"]
DIFFERENT = [
    *("Bcast", "Reduce", "Scan", "Exscan", "Gather", "Scatter", "Allgather", "Alltoall"),
    *("Allreduce", "Barrier", "Reduce_scatter", "Gatherv", "Scatterv", "Alltoallv"),
]
START, END = ["Bcast", "Bcast"], ["Gather"]


def count_of(steps) -> int | None:
    found = iterations(program(steps), Team())
    return found.count if found else None


@pytest.mark.parametrize("count", [3, 4, 10, 117, 2000])
def test_a_plain_loop(count):
    assert count_of([*START, *([*HALO, "Allreduce"]) * count, *END]) == count


def test_a_pass_before_the_loop_is_none_of_it():
    body = [*HALO, "Allreduce", "Alltoall"]
    assert count_of([*START, *body, "Barrier", *body * 30, *END]) == 30


def test_a_first_pass_may_do_more_in_its_middle():
    first = [*HALO, "Bcast", "Allreduce"]
    assert count_of([*START, *first, *([*HALO, "Allreduce"]) * 29, *END]) == 30


def test_a_first_pass_may_do_less():
    assert count_of([*START, *HALO, *(["Allreduce", *HALO]) * 29, *END]) == 30


def test_what_is_made_now_and_then_makes_no_outer_loop():
    steps = []
    for number in range(120):
        steps += [*HALO, ("Allreduce", 50)] if number % 10 == 9 else HALO
    trace = program([*START, *steps, *END])
    found = structure(trace, Team(), IterationMethod.CALLS).main
    assert found.count == 120
    assert found.every == (10,)


@pytest.mark.parametrize(("each", "ns", "count"), [(10, 500, 120), (20, 500, 120), (10, 1500, 12), (6, 500, 20)])
def test_a_step_of_several_calls_that_computes_little_is_seldom_a_loop_around(each, ns, count):
    """Beside passes of 5 calls that compute 5000 ns: an output, unless it computes more or is made often."""
    output = [("Reduce", ns), ("Gather", ns)]
    steps = []
    for number in range(120):
        steps += [*HALO, *output] if number % each == each - 1 else HALO
    assert count_of([*START, *steps, *END]) == count


def test_a_loop_that_converges_is_inside_one_that_repeats():
    rng = np.random.default_rng(1)
    steps, passes = [], rng.integers(4, 25, 20)
    for inner in passes.tolist():
        steps += ["Bcast", *([*HALO, "Allreduce"]) * inner, "Gather"]
    found = structure(program(steps), Team(), IterationMethod.CALLS).main
    assert found.count == 20
    inner = next(part for part in found.inside if part.iterations)
    assert (inner.fewest, inner.most, inner.total) == (passes.min(), passes.max(), passes.sum())


def test_sums_of_one_number_are_told_apart_by_what_is_computed_before_them():
    found = loop_of(sequence_of(program([("Allreduce", 5000), ("Allreduce", 500), ("Allreduce", 2000)] * 60), 0))
    assert found.count == 60


def test_an_exchange_with_whom_changes_and_how_often():
    rng = np.random.default_rng(2)
    steps = []
    for _ in range(80):
        steps += [f"Send {rng.integers(1, 9)} {rng.integers(1, 99999)}"] * int(rng.integers(1, 5))
        steps += ["Allreduce", "Barrier"]
    assert count_of(steps) == 80


@pytest.mark.parametrize("calls", [200, 400, 1000])
@pytest.mark.parametrize("kinds", [4, 6, 8])
def test_calls_in_random_order_are_no_loop(kinds, calls):
    """Long stretches of few kinds have as many of each, and short groups in common, by chance."""
    every = ["Send 1", "Recv 1", "Allreduce", "Bcast", "Send 2", "Recv 2", "Barrier", "Reduce"]
    steps = (np.random.default_rng(seed).choice(every[:kinds], calls).tolist() for seed in range(8))
    assert sum(count_of(one) is not None for one in steps) <= 1


def test_few_calls_are_no_loop():
    assert count_of(["Barrier", "Allreduce", "Allreduce", "Reduce"]) is None
    assert count_of([]) is None


@settings(max_examples=12)
@given(st.data())
def test_random_nested_loops(data):
    """Bodies have different calls; the inner and the outer loop have different shares of work."""
    outer, inner = data.draw(st.integers(4, 40), "outer"), data.draw(st.integers(4, 30), "inner")
    around, within = data.draw(st.integers(3, 8), "around"), data.draw(st.integers(1, 6), "within")
    before = data.draw(st.integers(0, around), "before")
    calls = data.draw(st.permutations(DIFFERENT), "calls")
    own, body = [(one, 9000) for one in calls[:around]], calls[around : around + within]
    steps = [*own[:before], *body * inner, *own[before:]] * outer
    found = structure(program([*START, *steps, *END], jitter=0.01), Team(), IterationMethod.CALLS).main
    assert found.count == outer
    length = around * 9100 + within * inner * 1100
    assert found.iterations.period_ns == pytest.approx(length, rel=0.01)
    inside = [part for part in found.inside if part.iterations]
    assert [part.count for part in inside] == [inner]
    assert sum(part.span_ns for part in found.inside) == pytest.approx(length, rel=0.02)


@pytest.mark.parametrize("inner", [3, 4, 7])
def test_calls_before_that_look_like_the_end_of_a_pass_cut_no_loop_inside(inner):
    own = [(one, 9000) for one in ("Reduce", "Scan", "Exscan")]
    found = structure(program([*START, *[*own, *["Bcast"] * inner] * 4, *END]), Team(), IterationMethod.CALLS).main
    assert (found.count, [part.count for part in found.inside if part.iterations]) == (4, [inner])


def test_two_loops_one_after_the_other():
    steps = [*([*HALO, "Allreduce"]) * 40, "Barrier", *["Alltoall", "Reduce"] * 90]
    found = loops_of(sequence_of(program(steps), 0))
    assert [one.count for one in found] == [40, 90]


def test_edges_are_those_of_the_calls():
    trace = program([*START, *["Bcast", "Allreduce", "Alltoall"] * 5, *END])
    found = iterations(trace, Team())
    assert found.lengths_ns().tolist() == [[3300] * 5]
    assert found.begin_ns == 100 + 2 * 1100
    assert found.body == "1 broadcast, 1 reduction, 1 all-to-all"


def test_what_most_ranks_say_is_believed_and_others_get_their_times():
    same = ["Bcast", "Allreduce", "Alltoall"] * 20
    odd = ["Bcast", "Barrier"]
    trace = MemoryTrace([rank_of(same), rank_of(same), rank_of(odd)])
    found = iterations(trace, Team())
    assert found.count == 20
    assert (found.edges[2] == found.edges[0]).all()
    assert iterations(MemoryTrace([rank_of(same), rank_of(odd)]), Team()) is None


@pytest.mark.parametrize(("count", "each", "first"), [(100, 25, True), (60, 20, False), (96, 12, True)])
def test_a_norm_now_and_then_is_a_step_of_the_loop_whose_inner_loops_are_the_level_below(count, each, first):
    """The norm may also be taken in the first step, so that its first distance is one shorter."""
    steps = []
    for number in range(count):
        steps += [*["Recv 1", "Send 2"] * 8, *["Recv 2", "Send 1"] * 8, *HALO]
        steps += ["Allreduce"] if (number + 1) % each == 0 or (first and not number) else []
    found = structure(program([*START, *steps, *END]), Team(), IterationMethod.CALLS).main
    assert (found.count, found.every) == (count, (each,))
    assert [part.count for part in found.inside if part.iterations] == [8, 8]


def sites(passes, *, knows_paths=True, output=()):
    """The outermost loop of calls that are given by the number of their place, pass by pass, all after equal bursts.
    output: places of calls to a root or a file."""
    places = np.array([0, 0, *np.concatenate(passes), 99])
    symbols = np.unique(places, return_inverse=True)[1].astype(np.int32)
    enter, bursts, clocks = np.arange(len(symbols)) * 100, np.full(len(symbols), 50), np.zeros(len(symbols), np.int32)
    outputs = np.where(np.isin(places, output), OutputKind.RESULTS, OutputKind.NONE).astype(np.uint8)
    return outermost(symbols, enter, bursts, clocks, int(enter[-1]), knows_paths=knows_paths, output=outputs)


@pytest.mark.parametrize("knows_paths", [True, False])
def test_passes_that_exchange_lists_in_place_of_values_are_passes(knows_paths):
    """As a program of molecules does: each 20th step makes other exchanges before forces than the others do, and each
    10th prints, so that more calls take turns without these steps than with them."""
    forces, values, lists = [1, 2, 3, 4], [5, 6, 7, 8, 5, 6], [11, 12, 13, 14, 15, 16, 17, 18, 19]
    steps = [[*(lists if n % 20 == 0 else [*values, 9, 10]), *forces, *([20] * (n % 10 == 0))] for n in range(1, 101)]
    found = sites(steps, knows_paths=knows_paths)
    assert found.count == 100 and set(found.every) <= {10, 20}


PASSES = st.lists(st.integers(4, 16), min_size=4, max_size=30)


@settings(max_examples=100)
@given(PASSES, st.sampled_from([([1], [4]), ([1, 5, 6], []), ([], [4, 5, 6])]))
def test_a_loop_around_one_that_converges_has_all_its_passes(counts, own):
    """However often the loop inside is passed in the first or the last one: calls of its own come before, behind, or
    both."""
    assume(len(set(counts)) > 2)
    steps = [[*own[0], *[2, 3] * count, *own[1]] for count in counts]
    found = sites(steps)
    assert found.count == len(counts)
    if len(set(counts[1:])) > 1 and len(set(counts[:-1])) > 1:
        assert found.begins[0] == 2 and found.end == 2 + sum(map(len, steps))


@pytest.mark.parametrize("counts", [[1, *[10] * 15, 20], [12, 1, *[56, 46] * 6, 1], [1, 47, 47, 47, 47, 40]])
def test_a_first_pass_may_hold_one_of_the_loop_inside(counts):
    steps = [[1, *[2, 3] * count, 4] for count in counts]
    found = sites(steps)
    assert (found.begins.tolist(), found.end) == (
        np.cumsum([2, *map(len, steps[:-1])]).tolist(),
        2 + sum(map(len, steps)),
    )


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("before", [[1, 3, 2, 4], [1, 2, 3, 4, 8]])
def test_passes_before_that_differ_make_each_other_no_passes(before, passes):
    """Their calls are in another order, or another one is made between them."""
    assert sites([before] * passes + [[1, *[2, 3] * 6, 4]] * 30).count == 30


@pytest.mark.parametrize("first", [15, 20, 50])
@pytest.mark.parametrize("knows_paths", [True, False])
def test_a_step_of_the_first_pass_may_come_again_late(first, knows_paths):
    """As where results are written of the begin, and often when all has settled."""
    due = {1, *range(first, 200, 10)}
    found = sites([[1, 2, 3, 4, *([5] * (n in due))] for n in range(1, 201)], knows_paths=knows_paths)
    assert (found.count, found.every) == (200, (10,))


@pytest.mark.parametrize("most", [8, 17, 100])
@pytest.mark.parametrize("own", [([1], []), ([], [4])])
def test_one_call_alone_may_be_all_that_a_loop_around_makes(own, most):
    """Where calls inside happen to be made so or so often in a row is no loop: they are in every pass."""
    rng = np.random.default_rng(most)
    for _ in range(25):
        counts = rng.integers(3, most, rng.integers(8, 30)).tolist()
        steps = [[*own[0], *[2, 3] * count, *own[1]] for count in counts]
        assert sites(steps).count == len(counts)


@settings(max_examples=50)
@given(st.integers(60, 300), st.integers(0, 1000))
def test_steps_that_make_lists_anew_now_and_then_are_steps(count, seed):
    """As a program of molecules whose atoms have moved too far: one call alone is made in each step, and at no even
    distances others in place of the usual ones, which is done once before the first step, too, at another place."""
    anew = np.random.default_rng(seed).random(count) < 0.05
    anew[[0, -1]] = False
    anew[2:] &= ~(anew[1:-1] | anew[:-2])  # three in a row are a loop of their own
    steps = [[9, *(range(15, 24) if new else range(10, 15))] for new in anew.tolist()]
    steps[0] = [1, 2, 3, 4, 5, 6, 7, 8, *steps[0]]
    assert sites(steps).count == count


CALLS = st.recursive(
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
    lambda inner: st.one_of(
        st.tuples(inner, st.integers(1, 8)).map(lambda repeated: repeated[0] * repeated[1]),
        st.lists(inner, min_size=1, max_size=5).map(lambda parts: [call for part in parts for call in part]),
    ),
    max_leaves=12,
)


@pytest.mark.filterwarnings("error")
@given(CALLS, st.booleans(), st.sampled_from([(), (1, 2)]))
def test_of_any_calls_passes_follow_one_another(calls, knows_paths, output):
    found = sites([calls], knows_paths=knows_paths, output=output)
    if found is not None:
        edges = np.append(found.begins, found.end)
        assert edges[0] >= 0 and (np.diff(edges) > 0).all() and edges[-1] <= 2 + len(calls) + 1


def test_a_loop_around_may_make_its_calls_in_all_passes_but_the_first():
    """They come amid the passes of the loop inside, which converges; no pass lacks a call because of them."""
    counts = np.random.default_rng(3).integers(5, 16, 20).tolist()
    steps = [[*([7, 8, 6, 9] * (k > 0)), *[1, 2, 3, 4, 5] * count] for k, count in enumerate(counts)]
    assert sites(steps).count in (19, 20)


def test_a_pass_to_warm_up_is_none_where_passes_begin_in_the_middle_of_repeated_calls():
    body = [1, 2, 3, 4, 4, 4]
    assert sites([[4, *body, 9, 8, *body * 20]], knows_paths=False).count == 20


def test_what_hands_out_results():
    names = (
        "MPI_Reduce",
        "MPI_Igatherv",
        "MPI_File_write_all_begin",
        "MPI_Barrier",
        "MPI_File_open",
        "MPI_File_read_all",
    )
    found = _outputs((*names, "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce_scatter", "MPI_Allgather"))
    results, beside = OutputKind.RESULTS, OutputKind.BESIDE
    assert found.tolist() == [results, results, results, beside, beside, *[OutputKind.NONE] * 5]


@pytest.mark.parametrize("each, count", [(25, 100), (15, 90), (10, 50)])
def test_results_that_are_written_now_and_then_make_no_loop_around(each, count):
    steps = [[1, 2, 3, *([4, 5, 6, 7] * (n % each == 0))] for n in range(1, count + 1)]
    found = sites(steps, output=(4, 5, 6, 7))
    assert (found.count, found.every) == (count, (each,))
    assert sites(steps).count == count // each


@pytest.mark.parametrize("other", [[6, 7, 8], [6, 7, 8, 9, 10, 11]])
def test_a_first_pass_may_make_others_in_place_of_half_of_the_calls(other):
    """As a model of the weather does that has no step before the first one to smooth with."""
    found = sites([[1, 2, 3, *other], *([[1, 2, 3, 4, 5, 20]] * 29)])
    assert (found.count, found.begins[0]) == (30, 2)


@pytest.mark.parametrize("missing", [0, 4])
@pytest.mark.parametrize("own", [1, 10, 15])
def test_a_first_pass_may_set_up_its_exchange_twice_in_its_middle(own, missing):
    """As MEEP does; the first exchange may also be left out, because there are no fields yet."""
    step = [1] * 4 + [2] * 5 + [3] * 5 + [4] * 5 + [5] * 5
    first = [*step[missing:14], *range(30, 30 + own), *[4] * 5, 46, 47, *[5] * 5]
    found = sites([first, *[step] * 59])
    assert (found.count, found.begins[0], found.begins[1]) == (60, 2, 2 + len(first))
    assert found.end == 2 + len(first) + 59 * len(step)


def test_calls_before_a_loop_that_it_has_few_of_are_no_pass():
    assert sites([[1, 6, 7, 8], *([[1, 2, 3, 4, 5, 20]] * 29)]).count == 29


def at_places(steps):
    """The outermost loop of calls whose paths are known: each procedure is called at one place."""
    calls = sequence_of(program(steps), 0)
    return loop_of(replace(calls, path=np.ones_like(calls.path)))


@pytest.mark.parametrize("turns", [2, 3, 4])
def test_partners_that_take_turns_make_no_longer_loop(turns):
    """Neighbours on the left and on the right, after as much work each time."""
    steps = [step for n in range(60) for step in ("Allreduce", f"Sendrecv {n % turns}")]
    assert at_places([*START, *steps, *END]).count == 60


@pytest.mark.parametrize("turns", [2, 3, 4])
def test_partners_of_one_pass_are_told_by_what_is_computed_before_them(turns):
    steps = [(f"Sendrecv {k}", 100 if k else 3000) for _ in range(60) for k in range(turns)]
    assert at_places([*START, *steps, *END]).count == 60


@pytest.mark.parametrize("knows_paths", [True, False])
@pytest.mark.parametrize("each", [3, 5, 20])
def test_the_last_pass_may_do_more_in_its_middle(each, knows_paths):
    steps = [[1, 2, 3, *([4] * (n % each == 0)), 5, 6, 7, 8, 9, 10] for n in range(1, 2 * each + 1)]
    found = sites(steps, knows_paths=knows_paths)
    assert (found.count, found.end) == (2 * each, 2 + 2 * each * 9 + 2)


@pytest.mark.parametrize("seed", range(5))
def test_calls_that_take_turns_are_of_the_loop_however_often_one_inside_is_passed(seed):
    """Only their places tell: passes are as different as the loop inside is long, and some of them look alike."""
    rng = np.random.default_rng(seed)
    steps = [[1, 2, 3, *([4, 5, 6, 7] * int(rng.integers(1, 20))), *([8] * (k % 5 == 4)), 9] for k in range(40)]
    assert sites(steps).count == 40


@pytest.mark.parametrize("heavy", [1, 10, 40])
def test_a_heavier_step_that_takes_less_than_those_between_makes_no_outer_loop(heavy):
    steps = ["Barrier", *["Barrier"] * 48, "Barrier", ("Gather", heavy * 1000)] * 10
    found = structure(program([*START, *steps]), Team(), IterationMethod.CALLS).main
    assert (found.count, found.every) == (500, (50,))


def test_one_that_takes_longer_than_those_between_does():
    steps = [*["Barrier"] * 20, ("Gather", 30_000)] * 10
    found = structure(program([*START, *steps]), Team(), IterationMethod.CALLS).main
    assert (found.count, found.inside[0].count) == (10, 20)


@pytest.mark.parametrize("seed", range(4))
def test_a_loop_whose_passes_vary_little_is_inside_the_one_that_begins_it_anew(seed):
    """These stretches have most calls in common, but not as many: only the loop inside explains the rest."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(5, 18, 30)
    steps = [call for passes in inner.tolist() for call in (*[*HALO, "Allreduce"] * passes, ("Bcast", 1500))]
    found = structure(program(["Gather", *steps]), Team(), IterationMethod.CALLS).main
    assert found.count == 30
    (part,) = (part for part in found.inside if part.iterations)
    assert (part.fewest, part.most, part.total) == (inner.min(), inner.max(), inner.sum())


def test_a_few_sums_at_the_end_are_no_loop():
    trace = program([*START, ("Allreduce", 10_000_000), ("Allreduce", 1000), ("Allreduce", 1000)], ranks=2)
    assert structure(trace, Team(), IterationMethod.BOTH).main is None


def test_steps_that_do_something_else_now_and_then_at_uneven_distances():
    """As where lists are built anew when particles have moved far."""
    far, steps, following = ["Irecv 3", "Irecv 4", "Isend 3", "Isend 4", "Waitall"], list[str](), 9
    for number in range(80):
        if number == following:
            steps += ["Allgather", "Alltoall"]
            following += 7 + (number * 3) % 7
        else:
            steps += far
        steps += [*HALO, "Allreduce"]
    found = loop_of(sequence_of(program([*START, *steps, *END]), 0))
    assert found.count == 80


STEP = list(range(10, 22))


def test_a_loop_around_has_calls_before_the_first_pass_and_behind_the_last_one():
    """Small as they are: one call before nine passes of twelve calls, one behind them."""
    found = sites([[1, *STEP * 9, 2]] * 7)
    assert (found.count, found.every) == (7, ())


@pytest.mark.parametrize("begin", [0, 1, 4])
@pytest.mark.parametrize("steps", [93, 97])
def test_passes_that_are_left_over_at_the_end_are_those_of_one_loop(steps, begin):
    """Lists are built anew in every 10th step, by more calls than half a step makes: the last ten are not complete."""
    found = sites([[*(range(30, 38) if n % 10 == begin else ()), *STEP] for n in range(steps)])
    assert (found.count, found.every) == (steps, (10,))


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_what_comes_between_every_few_passes_is_of_a_loop_around(stages):
    for passes in ([1, *STEP * stages], [*STEP * stages, 1]):
        assert sites([passes] * 30).count == 30
    middle = [*STEP * (stages - 1), *STEP[:6], 1, *STEP[6:]]
    assert sites([middle] * 30).count == 30 * stages


def test_of_what_ranks_may_have_that_is_believed_which_most_of_them_share():
    """Two components that meet after each 6 steps of the one, each 10 steps of the other: so they meet 12 times."""
    fast, slow = (["Sendrecv 1", "Allreduce"] * steps + ["Sendrecv 2"] for steps in (6, 10))
    found = structure(
        MemoryTrace([rank_of(one * 12) for one in (fast, fast, slow, slow)]), Team(), IterationMethod.CALLS
    ).main
    assert (found.count, found.iterations.known.all()) == (12, True)
