"""The time in a call that a killed rank did not come back from is MPI, until the last sign of life."""

import json

import h5py
import numpy as np
from killed import killed_run, rank_file, write_spool

from analyzer.cli import main
from analyzer.metrics.useful import useful
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace import Losses
from tracelib import recovery


def hung(tmp_path):
    """Rank 1 returned from three receives, the last at 37, and entered another at 38; rank 0 ended at 55."""
    run, spool, tables = killed_run(tmp_path, 3)
    with h5py.File(rank_file(run, 1)) as file:
        entered = int(file["calls"]["exit"][-1]) + 1
    rows = {name: table[:0] for name, table in tables.items()}
    write_spool(spool, rank_file(run, 1), rows, entered=entered, entered_call=0)
    return run


def look(run):
    trace = open_run(str(run))
    calls = np.concatenate(list(trace.calls(1)))
    found = (
        [(int(c["enter"]), int(c["exit"]), trace.procedures[c["call"]]) for c in calls][-1],
        trace.extra(Losses).unfinished,
        trace.duration_ns,
        int(useful(trace, Team()).by_rank()[1]),
        [problem.text for problem in trace.problems if problem.note],
    )
    trace.close()
    return found


def test_until_what_any_rank_recorded_last(tmp_path):
    run = hung(tmp_path)
    last, unfinished, duration, computed, notes = look(run)
    (call,) = unfinished
    assert last == (call.enter_ns, duration, "MPI_Recv") == (call.enter_ns, call.until_ns, call.procedure)
    assert (call.rank, call.thread, call.seen) == (1, 0, False)
    assert call.enter_ns < duration
    assert computed <= call.enter_ns
    assert any("counts as MPI until what any rank recorded last" in note for note in notes)


def test_the_same_after_recovery(tmp_path):
    run = hung(tmp_path)
    before = look(run)
    recovery.recover(str(run))
    assert look(run)[:4] == before[:4]


def test_what_they_waited_for_is_not_known(tmp_path, capsys):
    """No other command takes this time for MPI's own, or for no waiting at all."""
    run = hung(tmp_path)
    (call,) = look(run)[1]
    assert main(["waits", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unfinished_s"] == (call.until_ns - call.enter_ns) / 1e9
    assert main(["waits", str(run)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"{call.until_ns - call.enter_ns} ns is in calls that ranks did not come back from" in said
    assert "No call waited" not in said
