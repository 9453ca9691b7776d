"""Some ranks of a run (`--ranks`): results for each are as in the whole run; the other ranks cost nothing."""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_runs import runs
from synthetic import ORIGIN_NS, WORLD, call, write_run

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.metrics.checks import findings
from analyzer.metrics.profile import profile
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.recording.run import rank_files
from analyzer.trace import Chosen, Clocks, Leftovers, Losses
from analyzer.trace.chosen import Choice, choice_named, unreadable
from benchmarks.halo import write_halo

RANKS, CALLS = 12, 600
CHOSEN = "2-5,9"
"""Ranks of a ring: 3 pairs of neighbours; ranks 2, 5 and 9 have 4 neighbours that are not chosen."""
NUMBERS = (2, 3, 4, 5, 9)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same run as run.h5, its folder, .prv and .dim."""
    folder = tmp_path_factory.mktemp("halo")
    run = write_halo(folder, RANKS, CALLS)
    assert main(["look", str(run), "-q"]) == 0
    return {
        "h5": run,
        "ranks": run.with_suffix(".ranks"),
        "prv": run.with_suffix(".prv"),
        "dim": run.with_suffix(".dim"),
    }


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20), st.integers(1, 7)), min_size=1, max_size=6))
def test_a_text_names_the_ranks_of_its_stretches(stretches):
    text = ",".join(f"{first}-{first + more}:{step}" if more else str(first) for first, more, step in stretches)
    named = {rank for first, more, step in stretches for rank in range(first, first + more + 1, step)}
    if max(first + more for first, more, _ in stretches) <= 70:
        assert Choice.parse(text).of(71, "run.h5") == tuple(sorted(named))


@pytest.mark.parametrize("text", ["", ",", "x", "5-3", "1,", "-1", "1-", "1-2-3", "0-8:0", "3:2", "1.5", "0x1"])
def test_what_is_no_list_of_ranks(text):
    with pytest.raises(ValueError):
        Choice.parse(text)


def test_a_list_of_very_many_ranks_takes_no_memory():
    with pytest.raises(TracelibError, match="has no rank 999999999"):
        Choice.parse("0-999999999").of(8, "run.h5")


@pytest.mark.parametrize("kind", ["h5", "ranks", "prv", "dim"])
def test_each_rank_is_as_in_the_whole_run(files, kind):
    whole = open_trace(files[kind])
    trace = open_trace(files[kind], choice=Choice.parse(CHOSEN))
    assert trace.extra(Chosen).ranks == NUMBERS
    assert trace.extra(Losses).missing == tuple(sorted(set(range(RANKS)) - set(NUMBERS)))
    assert choice_named(trace) == "5 of 12 ranks chosen"
    assert trace.size == whole.size and trace.communicators[0].members == whole.communicators[0].members
    sums, all_sums = profile(trace, Team()), profile(whole, Team())
    for rank in range(RANKS):
        calls, of_whole = (_joined(t.calls(rank)) for t in (trace, whole))
        assert len(calls) == (len(of_whole) if rank in NUMBERS else 0)
        for name in ("enter", "exit", "peer", "tag", "sent", "received", "inside") if rank in NUMBERS else ():
            assert np.array_equal(calls[name], of_whole[name]), (rank, name)
        assert rank in NUMBERS or not len(_joined(trace.requests(rank)))
        assert trace.span(rank) == (whole.span(rank) if rank in NUMBERS else (0, 0))
    assert sums.mpi_ns()[list(NUMBERS)].tolist() == all_sums.mpi_ns()[list(NUMBERS)].tolist()
    assert not np.delete(sums.mpi_ns(), NUMBERS).any()
    assert useful(trace, Team()).by_rank()[list(NUMBERS)].tolist() == (
        useful(whole, Team()).by_rank()[list(NUMBERS)].tolist()
    )
    whole.close()
    trace.close()


@pytest.mark.parametrize("kind", ["h5", "ranks", "prv", "dim"])
def test_messages_are_those_between_chosen_ranks_and_the_others_are_one_number(files, kind):
    whole = open_trace(files[kind])
    trace = open_trace(files[kind], choice=Choice.parse(CHOSEN))
    messages, of_whole = trace.messages(), whole.messages()
    inner = of_whole[np.isin(of_whole["source"], NUMBERS) & np.isin(of_whole["destination"], NUMBERS)]
    for name in ("source", "destination", "tag", "logical_send", "physical_receive"):
        assert np.array_equal(np.sort(messages[name]), np.sort(inner[name]))
    steps = CALLS // RANKS // 5
    assert len(messages) == 3 * 2 * steps
    assert trace.extra(Chosen).one_sided() == 4 * 2 * steps  # to and from each of 4 neighbours in each step
    assert trace.extra(Leftovers).unmatched() == []
    assert [problem for problem in trace.problems if not problem.note] == []
    whole.close()
    trace.close()


def _joined(blocks):
    blocks = list(blocks)
    return np.concatenate(blocks) if blocks else ()


@settings(max_examples=10)
@given(runs(), st.data())
def test_random_runs_say_the_same_of_each_rank(run, data):
    """Random runs with clocks, counters, regions, threads and all else that `runs` makes."""
    ranks, _ = run  # a rate of ticks would be fitted to the readings of fewer ranks
    chosen = sorted(data.draw(st.sets(st.integers(0, len(ranks) - 1), min_size=1)))
    with tempfile.TemporaryDirectory() as folder:
        path = str(write_run(Path(folder), ranks))
        whole, trace = open_trace(path), open_trace(path, choice=Choice.parse(",".join(map(str, chosen))))
        sums, all_sums = profile(trace, Team()), profile(whole, Team())
        for rank in chosen:
            for name, row in zip(sums.procedures, sums.inside_ns[rank].tolist(), strict=True):
                assert row == all_sums.inside_ns[rank][all_sums.procedures.index(name)]
        computed = useful(trace, Team()).by_rank()[chosen].tolist()
        assert computed == useful(whole, Team()).by_rank()[chosen].tolist()
        whole.close()
        trace.close()


def test_only_the_files_of_these_ranks_are_opened(files, tmp_path, monkeypatch):
    """So they need not be there at all, and it costs what these ranks cost. Of rank 0 the clock is needed."""
    opened, open_rank = [], rank_files.open_rank
    monkeypatch.setattr(rank_files, "open_rank", lambda *args: opened.append(args[0]) or open_rank(*args))
    open_trace(files["h5"], choice=Choice.parse(CHOSEN)).close()
    assert [Path(place).stem for place in opened] == [f"{rank:06d}" for rank in (*NUMBERS, 0)]
    shutil.copy(files["h5"], tmp_path)
    (tmp_path / "run.ranks").mkdir()
    for rank in NUMBERS:
        shutil.copy(files["ranks"] / f"{rank:06d}.h5", tmp_path / "run.ranks")
    assert open_trace(tmp_path / "run.h5", choice=Choice.parse(CHOSEN)).problems == []


def test_the_clocks_of_nodes_are_aligned_as_in_the_whole_run(tmp_path):
    """Three nodes of 4 ranks, of which the first ranks read rank 0's clock: 1 ms and 2 ms behind it."""
    ranks = []
    for rank in range(12):
        behind = rank // 4 * 1_000_000
        readings = [(ORIGIN_NS + at, ORIGIN_NS + at + behind, 100, 10) for at in (10, 5000)]
        sync = readings if rank in (4, 8) else ()
        ranks.append({"calls": [call("MPI_Init", 10, 20 + rank)], "boot_id": f"node{rank // 4}", "sync": sync})
    path = str(write_run(tmp_path, ranks))
    whole, trace = open_trace(path), open_trace(path, choice=Choice.parse("6,7,10"))
    spans, of_whole = (np.array([t.span(rank) for rank in (6, 7, 10)]) for t in (trace, whole))
    assert len(np.unique(of_whole - spans)) == 1
    assert spans[2, 0] - spans[0, 0] == 1_000_000
    assert [clock.ranks for clock in trace.extra(Clocks).known] == [(6, 7), (10,)]
    assert trace.problems == []


def test_a_chosen_rank_that_cannot_be_read_is_missing(files, tmp_path):
    shutil.copytree(files["ranks"], tmp_path / "run.ranks")
    (tmp_path / "run.ranks" / "000003.h5").unlink()
    (tmp_path / "run.ranks" / "000007.h5").unlink()
    trace = open_trace(tmp_path / "run.ranks", choice=Choice.parse(CHOSEN))
    assert [problem.rank for problem in trace.problems] == [3]
    assert unreadable(trace.extra(Losses).missing, trace.extra(Chosen).ranks) == [3]


def test_all_ranks_are_no_choice(files):
    trace = open_trace(files["h5"], choice=Choice.parse(f"0-{RANKS - 1}"))
    assert trace.extra(Chosen).ranks is None
    assert choice_named(trace) == ""


def test_nobody_waits_for_a_member_of_a_collective_that_was_not_chosen(tmp_path):
    ranks = [{"calls": [call("MPI_Barrier", 10, 20 + rank, comm=WORLD)]} for rank in range(3)]
    trace = open_trace(write_run(tmp_path, ranks), choice=Choice.parse("0,2"))
    assert findings(trace, Team()) == []


def _run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_the_first_look_says_what_was_chosen(files, capsys):
    code, out, _ = _run(capsys, "look", "--no-files", files["h5"], "--ranks", CHOSEN)
    assert code == 0
    assert "5 of 12 ranks chosen, 1 node" in out
    out = " ".join(out.split())
    assert "80 sends and receives are left out, because the other side is of ranks that were not chosen" in out
    assert "only one side" not in out and "missing" not in out
    assert "only 5 of 12 ranks were chosen" in out
    assert "Clocks" not in out


def test_numbers_of_a_choice(files, capsys):
    _, out, _ = _run(capsys, "look", "--no-files", files["h5"], "--ranks", CHOSEN, "--json")
    data = json.loads(out)
    assert (data["chosen"], data["missing"], data["one_sided"]) == (list(NUMBERS), [], 80)
    _, out, _ = _run(capsys, "look", "--no-files", files["h5"], "--json")
    assert json.loads(out)["chosen"] is None
    for command, key in (("waits", "ranks"), ("critical-path", "by_rank")):
        _, out, _ = _run(capsys, command, files["h5"], "--ranks", CHOSEN, "--json")
        assert [row["rank"] for row in json.loads(out)[key]] == list(NUMBERS)


@pytest.mark.parametrize(
    ("text", "said"),
    [("5-3", "is not a list of ranks"), ("x", "is not a list"), ("", "is not a list"), ("3,12", "has no rank 12")],
)
def test_bad_choices_are_one_line_and_exit_code_2(files, capsys, text, said):
    for file in (files["h5"], files["ranks"], files["prv"], files["dim"]):
        code, out, err = _run(capsys, "look", "--no-files", file, "--ranks", text)
        assert (code, out) == (2, "")
        assert said in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "line",
    [
        "replay FILE", "what-if FILE", "limits FILE", "sensitivity FILE", "monte-carlo FILE", "fit-machine FILE",
        "validate FILE --against FILE", "dim FILE", "pack FILE", "profile FILE --latency 1us",
        "critical-path FILE -o x.dim",
    ],
)  # fmt: skip
def test_commands_that_need_all_ranks_say_why(files, capsys, line):
    words = [str(files["h5"]) if word == "FILE" else word for word in line.split()]
    code, out, err = _run(capsys, *words, "--ranks", "0-3")
    assert (code, out) == (2, "")
    assert "all ranks" in err or "all of its ranks" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("what FILE --at 1ms", "a moment is that of one rank (--rank) or of all"),
        ("table FILE", "the rows of a table are of whole runs"),
        ("fit FILE", "models are of whole runs"),
    ],
)
def test_other_commands_say_why_they_do_not_choose_ranks(files, capsys, line, why):
    words = [str(files["h5"]) if word == "FILE" else word for word in line.split()]
    code, out, err = _run(capsys, *words, "--ranks", "0-3")
    assert (code, out) == (2, "")
    assert f"--ranks cannot be used here: {why}" in err and len(err.splitlines()) == 1


def test_a_look_writes_a_prv_of_the_choice_and_no_dim(files, tmp_path, capsys):
    assert main(["look", str(files["h5"]), "--ranks", CHOSEN, "-q", "-o", str(tmp_path / "part")]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"part.prv", "part.pcf", "part.row"}
    part = open_trace(tmp_path / "part.prv")
    assert part.size == RANKS
    assert sorted(set(part.messages()["source"].tolist())) == [2, 3, 4, 5]
