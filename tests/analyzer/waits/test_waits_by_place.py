"""Where waits are, and what was done where meanwhile: by hand, and call by call in another way."""

import json
from collections import Counter

from hypothesis import given, settings
from pathed_runs import pathed_runs
from placed_runs import placed
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.metrics.profile import profile
from analyzer.opening import open_trace
from analyzer.pairing.call_paths import calls_with_paths
from analyzer.parallel import Team
from analyzer.report.waits import longest_in_words
from analyzer.trace import CallPaths
from analyzer.waits.analysis import analyze_waits
from analyzer.waits.by_place import COMPUTES, IN_CALL, MOST_CALLS, wait_places
from analyzer.waits.wait_states import WaitSearch, find_wait_states

MAIN = ("main", 40)
PAIR = {"comm": WORLD, "tag": 3}


def late_sender(tmp_path, between=()):
    """Rank 1 waits from 100 to 900 in line 7 of halo for rank 0, which computes on its way from line 3 of work to the
    first of the calls in `between` (entry, exit, chain), the last of which comes right before its send in line 9."""
    small = [call("MPI_Comm_rank", enter, leave) for enter, leave, _ in between]
    sender = [call("MPI_Init", 0, 10), *small, call("MPI_Send", 900, 910, peer=1, sent=8, **PAIR)]
    chains = [(MAIN, ("work", 3)), *(chain for *_, chain in between), (MAIN, ("work", 9))]
    receiver = [call("MPI_Init", 0, 10), call("MPI_Recv", 100, 950, peer=0, received=8, **PAIR)]
    ranks = [placed({"calls": sender}, chains), placed({"calls": receiver}, [(MAIN,), (MAIN, ("halo", 7))])]
    return write_run(tmp_path, ranks)


def of(run):
    trace = open_trace(run)
    found = analyze_waits(trace, Team(), profile(trace, Team()))
    trace.close()
    return found


def test_a_late_sender_by_hand(tmp_path):
    found = of(late_sender(tmp_path))
    (reason,) = found.reasons
    assert (reason.procedure, reason.place) == ("MPI_Recv", "halo.py:7 in halo")
    assert reason.cause == "computing at work.py:3-9 in work before MPI_Send"
    assert (reason.rank, reason.ranks, reason.count, reason.time_ns) == (0, 1, 1, 800)
    assert [(p.procedure, p.place, p.time_ns) for p in found.places] == [("MPI_Recv", "halo.py:7 in halo", 800)]
    assert longest_in_words(found.longest[0]) == (
        "The longest wait: rank 1 waits 800 ns in MPI_Recv at halo.py:7 in halo, called from main at main.py:40, for "
        "rank 0, which computes at work.py:3-9 in work before MPI_Send."
    )
    assert found.longest[0].lines == ("halo.py:7", "computing work.py:3-9")


def test_what_was_done_before_small_calls_counts(tmp_path):
    """Rank 0 computes 600 before two small calls, and 30 before the one that is waited for."""
    small = [(700, 705, (MAIN, ("work", 5))), (860, 870, (MAIN, ("work", 6)))]
    found = of(late_sender(tmp_path, small))
    assert [(r.cause, r.time_ns) for r in found.reasons] == [
        ("computing at work.py:3-5 in work before MPI_Comm_rank", 600),
        ("computing at work.py:5-6 in work before MPI_Comm_rank", 155),
        ("computing at work.py:6-9 in work before MPI_Send", 30),
        ("MPI_Comm_rank at work.py:6 in work", 10),
        ("MPI_Comm_rank at work.py:5 in work", 5),
    ]
    assert longest_in_words(found.longest[0]).endswith(
        "for rank 0, which computes at work.py:3-5 in work before MPI_Comm_rank for 600 ns of that."
    )


def test_a_cause_that_is_in_mpi_itself(tmp_path):
    """The computation right before its send is short: it does not stand for the whole wait."""
    found = of(late_sender(tmp_path, [(150, 850, (MAIN, ("work", 5)))]))
    assert [(r.cause, r.time_ns) for r in found.reasons] == [
        ("MPI_Comm_rank at work.py:5 in work", 700),
        ("computing at work.py:3-5 in work before MPI_Comm_rank", 50),
        ("computing at work.py:5-9 in work before MPI_Send", 50),
    ]


def test_so_far_back_it_looks_and_no_further(tmp_path):
    calls = [(110 + 5 * k, 111 + 5 * k, (MAIN, ("work", 5))) for k in range(MOST_CALLS + 20)]
    found = of(late_sender(tmp_path, [(105, 109, (MAIN, ("work", 4))), *calls]))
    assert found.reasons[0].cause == "computing at work.py:5-9 in work before MPI_Send"  # the gap to 900


def test_in_tables_and_as_data(tmp_path, capsys):
    run = str(late_sender(tmp_path))
    assert main(["waits", run]) == 0
    said = capsys.readouterr().out
    assert "Where, and what others did meanwhile" in said and max(map(len, said.splitlines())) <= 80
    assert "halo.py:7" in said and "The longest wait: rank 1 waits 800 ns" in " ".join(said.split())
    assert main(["waits", run, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["reasons"] == [
        {"call": "MPI_Recv", "place": "halo.py:7 in halo", "rank": 0, "ranks": 1, "count": 1, "time_s": 800e-9,
         "meanwhile": "computing at work.py:3-9 in work before MPI_Send"}
    ]  # fmt: skip
    assert data["longest"][0]["place"] == "halo.py:7 in halo < main main.py:40"
    assert data["places"][0]["place"] == "halo.py:7 in halo"


def test_some_calls_alone(tmp_path, capsys):
    """A barrier in line 41 besides; with --place its waits are gone, and so are the delays behind all."""
    ranks = [
        placed({"calls": [call("MPI_Send", 300, 310, peer=1, sent=8, **PAIR),
                          call("MPI_Barrier", 400, 500, comm=WORLD)]},
               [(MAIN, ("work", 9)), (("main", 41),)]),
        placed({"calls": [call("MPI_Recv", 100, 320, peer=0, received=8, **PAIR),
                          call("MPI_Barrier", 450, 500, comm=WORLD)]},
               [(MAIN, ("halo", 7)), (("main", 41),)]),
    ]  # fmt: skip
    run = str(write_run(tmp_path, ranks))
    data = {}
    for place in ("", "halo", "main.py:41", "halo|41"):
        assert main(["waits", run, "--json", *(["--place", place] if place else [])]) == 0
        data[place] = json.loads(capsys.readouterr().out)
    assert [round(data[place]["waiting_s"] * 1e9) for place in data] == [250, 200, 50, 250]
    assert data["halo"]["kinds"]["late_sender"]["count"] == 1 and not data["halo"]["kinds"]["barrier"]["count"]
    assert data[""]["causes"] and not data["halo"]["causes"]
    assert main(["waits", run, "--place", "halo"]) == 0
    assert "Only waits in calls through places that match halo are shown." in " ".join(capsys.readouterr().out.split())


def test_without_paths_tables_stay_as_they_were(tmp_path, capsys):
    ranks = [
        {"calls": [call("MPI_Send", 300, 310, peer=1, sent=8, **PAIR)]},
        {"calls": [call("MPI_Recv", 100, 320, peer=0, received=8, **PAIR)]},
    ]
    assert main(["waits", str(write_run(tmp_path, ranks))]) == 0
    said = capsys.readouterr().out
    assert "meanwhile" not in said and "region" in said and "causes" in said


@settings(max_examples=50)
@given(pathed_runs())
def test_each_wait_by_all_calls_of_both(tmp_path_factory, run):
    """The path of the call that waited, and the longest of what the other did since, call by call."""
    ranks, tsc_per_us = run
    trace = open_trace(write_run(tmp_path_factory.mktemp("waits"), ranks, tsc_per_us=tsc_per_us))
    search = WaitSearch(trace, Team(), with_syncs=True)
    found = find_wait_states(search)
    places = wait_places(trace, found)
    if places is None:
        assert not trace.extra(CallPaths).known
    else:
        said = {}
        for row in places.did.mapped():
            key = tuple(int(row[name]) for name in ("does", "before", "after", "call"))
            said.setdefault(int(row["wait"]), Counter())[key] += int(row["ns"])
        for number, (wait, row) in enumerate(zip(found.waits, places.where.mapped(), strict=True)):
            waited = calls_of(trace, search, int(wait["lane"]))
            assert int(row["path"]) == [path for enter, _, _, path in waited if enter <= wait["enter"]][-1]
            did = done_meanwhile(calls_of(trace, search, int(wait["cause"])), wait)
            rest = int(wait["end"] - wait["enter"]) - sum(did.values())
            assert said.get(number, Counter()) == did + Counter({(0, 0, 0, 0): rest})
            assert int(row["ns"]) == max(did.values(), default=0)
        total = of_run(trace)
        assert sum(r.time_ns for r in total.reasons) == total.total_ns == sum(p.time_ns for p in total.places)
    search.close()
    trace.close()


def of_run(trace):
    return analyze_waits(trace, Team(), profile(trace, Team()))


def calls_of(trace, search, lane):
    """(entry, end in MPI, call, path) of all calls of a lane."""
    rank, thread = int(search.lanes.rank[lane]), int(search.lanes.thread[lane])
    return [
        (int(row["enter"]), int(row["enter"] + row["inside"]), int(row["call"]), path)
        for calls, paths in calls_with_paths(trace, rank)
        for row, path in zip(calls, paths.tolist(), strict=True)
        if row["thread"] == thread
    ]


def done_meanwhile(calls, wait):
    """How long each thing was done between the begin and the end of the wait, up to the call that it was for."""
    begin, end = int(wait["enter"]), int(wait["end"])
    upto = [row for row in calls if row[0] <= wait["cause_enter"]]
    found, last, before = Counter(), 0, begin
    for number, (enter, over, call_, path) in enumerate(upto):
        found[COMPUTES, last, path, call_] += max(min(enter, end) - max(before, begin), 0)
        following = upto[number + 1][0] if number + 1 < len(upto) else over
        found[IN_CALL, 0, path, call_] += max(min(over, following, end) - max(enter, begin), 0)
        last, before = path, over
    return Counter({key: ns for key, ns in found.items() if ns > 0})
