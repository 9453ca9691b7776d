"""Traces in the manner of the programs that write them: each is read, or refused for the right reason.

Every command is tried. The texts were made from the expected figures.
"""

import pytest
from producers import PRODUCERS

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.trace import Arrows, State

READ = {name: one for name, one in PRODUCERS.items() if not one.reason}
REFUSED = {name: one for name, one in PRODUCERS.items() if one.reason}
NEED_COMPUTING = ("efficiency", "replay", "dim", "critical-path", "profile", "balance", "hot", "structure")
SLOW = ("limits", "clusters", "report", "representative")
"""Commands that run for a few producers only."""


def written(name, folder):
    path = folder / "trace.prv"
    path.write_text(PRODUCERS[name].text)
    return path


@pytest.mark.parametrize("name", READ)
def test_it_is_read(name, tmp_path):
    of = READ[name]
    trace = open_trace(written(name, tmp_path))
    assert (trace.origin.applications or (trace.size,)) == of.sizes
    assert (int(trace.threads.sum()), trace.duration_ns) == (of.threads, of.duration_ns)
    states = trace.states()
    running = states[states["state"] == State.RUNNING]
    assert trace.origin.has_states == (of.computing_ns is not None)
    assert int((running["end"] - running["begin"]).sum()) == (of.computing_ns or 0)
    assert (len(trace.messages()), len(trace.extra(Arrows).read())) == (of.messages, of.arrows)
    said = [problem.text for problem in trace.problems]
    assert any(of.noted in text for text in said) if of.noted else not said
    trace.close()


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_the_reason(name, tmp_path):
    with pytest.raises(TracelibError) as refused:
        open_trace(written(name, tmp_path))
    assert REFUSED[name].reason in str(refused.value)


@pytest.mark.parametrize("name", READ)
def test_every_record_that_is_read_is_written_again(name, tmp_path):
    """But for what is malformed; an archive of several applications keeps them."""
    path = written(name, tmp_path)
    assert main(["prv", str(path), "-o", str(tmp_path / "again.prv"), "-q"]) == 0
    one, other = open_trace(path), open_trace(tmp_path / "again.prv")
    for read in (lambda t: t.states(), lambda t: t.messages(), lambda t: t.extra(Arrows).read()):
        rows = [read(one), read(other)]
        names = [column for column in rows[0].dtype.names if "cpu" not in column and column != "comm"]
        assert rows[0][names].tolist() == rows[1][names].tolist()
    assert one.size == other.size and one.duration_ns == other.duration_ns
    one.close()
    other.close()


@pytest.mark.parametrize("name", READ)
def test_commands_agree_on_what_is_computing(name, tmp_path, capsys):
    """They all answer, or all say that it is not known; whatever they write can be read again."""
    path, unknown = written(name, tmp_path), READ[name].computing_ns is None
    for command in (*NEED_COMPUTING, *(SLOW if name in ("extrae-5", "ovni", "compss") else ())):
        code = main([command, str(path), *(["-f"] if command in ("dim", "clusters", "report", "profile") else [])])
        said = capsys.readouterr()
        assert ("it is not known what is computing" in said.err) == unknown, (command, said.err)
        assert "Traceback" not in said.err and (code == 1 if unknown else code in (0, 1))
    assert main(["check", str(path)]) in (0, 1)
    for command in (("info",), ("waits",), ("export", "--to", "chrome"), ("export", "--to", "otf2")):
        assert main([*command, str(path)]) == 0, command
    if not unknown:
        assert main(["replay", str(path.with_suffix(".dim"))]) == 0
