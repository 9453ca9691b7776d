"""Computation of a rank after its last event belongs to the run: in cut traces, of killed runs, of converters.

The sums that analyses must have equal the sums over the states that the text is made of.
"""

import json
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.critical.path import critical_path
from analyzer.efficiency.analysis import efficiencies
from analyzer.machine.description import Machine
from analyzer.metrics.parallelism import COMPUTING, parallelism
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.operations.program import SharedProgram
from analyzer.parallel import Team
from analyzer.replay.simulate import simulate
from analyzer.writers.dim import write_dim
from analyzer.writers.prv import write_prv

CALL = 50000003


def text_of(ranks, *, events):
    """Each rank: (computing, in MPI) in turns, ending with a computation that no event follows."""
    lines, ends, sums = [], [], []
    for rank, turns in enumerate(ranks, 1):
        at, computed, place = 0, 0, f"{rank}:1:{rank}:1"
        for number, length in enumerate(turns):
            if number % 2 == 0:
                lines.append((at, f"1:{place}:{at}:{at + length}:1"))
                computed += length
            else:
                lines.append((at, f"1:{place}:{at}:{at + length}:15"))
                if events:
                    lines += [(at, f"2:{place}:{at}:{CALL}:19"), (at + length, f"2:{place}:{at + length}:{CALL}:0")]
            at += length
        ends.append(at)
        sums.append(computed)
    pairs = ",".join("1:1" for _ in ranks)
    header = f"#Paraver (01/02/2020 at 10:00):{max(ends)}_ns:1({len(ranks)}):1:{len(ranks)}({pairs})\n"
    return header + "".join(f"{line}\n" for _, line in sorted(lines)), sums, ends


TURNS = st.lists(st.integers(1, 10**6), min_size=1, max_size=9).map(
    lambda turns: turns[: (len(turns) - 1) // 2 * 2 + 1]
)


def replayed(trace):
    program = SharedProgram.translate(trace, Team(), cpu_time=False, virtual=False).whole(everywhere=True)
    return simulate(program, Machine.ideal()).usage["computing"].tolist()


@settings(max_examples=40, deadline=None)
@given(st.lists(TURNS, min_size=1, max_size=3))
def test_all_of_it_is_in_every_analysis(tmp_path_factory, ranks):
    folder = tmp_path_factory.mktemp("run")
    text, sums, ends = text_of(ranks, events=True)
    (folder / "run.prv").write_text(text)
    trace = open_trace(folder / "run.prv")
    assert [trace.span(rank)[1] for rank in range(trace.size)] == ends
    write_dim(trace, folder / "run.dim")
    write_prv(trace, folder / "again.prv")
    dim, again = open_trace(folder / "run.dim"), open_trace(folder / "again.prv")
    for one in (trace, again):
        assert useful(one, Team()).time_ns.tolist() == sums
        assert replayed(one) == sums
        ideal = efficiencies(one, Team()).efficiency.ideal
        assert (ideal.runtime_ns, ideal.useful_ns) == (max(sums), max(sums))
        profile = parallelism(one, Team(), 10)
        assert abs(profile.mean(COMPUTING) * profile.end_ns - sum(sums)) <= 1e-6 * sum(sums)
        assert critical_path(one).length_ns == max(ends)
    assert simulate(dim.program, Machine.ideal()).usage["computing"].tolist() == sums
    for one in (trace, dim, again):
        one.close()


@settings(max_examples=20, deadline=None)
@given(st.lists(TURNS, min_size=1, max_size=3))
def test_nothing_is_lost_of_a_trace_without_events(tmp_path_factory, ranks):
    """Its bursts last from the begin to the end, as prv2dim's: all state 1 is in them."""
    folder = tmp_path_factory.mktemp("run")
    text, sums, ends = text_of(ranks, events=False)
    (folder / "run.prv").write_text(text)
    trace = open_trace(folder / "run.prv")
    assert useful(trace, Team()).time_ns.tolist() == sums
    assert replayed(trace) == ends
    trace.close()


def test_what_commands_print(tmp_path, capsys):
    """900 of 900 ms after MPI_Init, of which no event tells."""
    text, _, _ = text_of([[0, 10**8, 9 * 10**8]], events=True)
    (tmp_path / "run.prv").write_text(text.replace("1:1:1:1:1:0:0:1\n", ""))
    asked = partial(_asked, capsys, str(tmp_path / "run.prv"))
    assert asked("replay")["predicted_s"] == 0.9
    assert asked("look", "--no-files")["useful_s"]["total"] == 0.9
    assert asked("what-if")["each_free"][0]["computing_s"] == 0.9


def _asked(capsys, path, *words):
    assert main([*words, path, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_is_no_act_ends_no_rank(tmp_path):
    """Idle, not created, not recorded: the run of a rank ends before."""
    head = "#Paraver (01/02/2020 at 10:00):900_ns:1(1):1:1(1:1)\n1:1:1:1:1:0:100:1\n2:1:1:1:1:100:40000001:0\n"
    for state, end in ((0, 100), (2, 100), (14, 100), (1, 900), (5, 900), (12, 900)):
        (tmp_path / "run.prv").write_text(f"{head}1:1:1:1:1:100:900:{state}\n")
        trace = open_trace(tmp_path / "run.prv")
        assert trace.span(0) == (0, end), state
        trace.close()
