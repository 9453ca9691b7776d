"""`tracelib counters`: what it lists, with and without PAPI, and what it says and returns."""

import json
import re
import sys
from types import ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner
from paths import DOCS

from tracelib import commands, counters
from tracelib.errors import TracelibError

USUAL = ["CPU_NS", "perf::CYCLES", "perf::PAGE-FAULTS", "PAPI_TOT_INS"]


@pytest.mark.parametrize(
    "patterns,chosen",
    [
        ([], USUAL),
        (["perf::*"], ["perf::CYCLES", "perf::PAGE-FAULTS"]),
        (["*faults", "cpu_ns"], ["perf::PAGE-FAULTS", "CPU_NS"]),
        (["skx::*"], ["skx::UOPS", "skx::LOADS:MISS"]),
        (["perf::r01c2", "perf::c*"], ["perf::r01c2", "perf::CYCLES"]),
        (["PAPI_TOT_???", "*INS"], ["PAPI_TOT_INS"]),
    ],
)
def test_names_and_patterns(patterns, chosen):
    assert counters.choose(patterns, USUAL, ["skx::UOPS", "skx::LOADS:MISS"]) == chosen


def test_a_pattern_that_nothing_matches():
    with pytest.raises(TracelibError, match=r"no counter matches X\*") as error:
        counters.choose(["X*"], USUAL, [])
    assert error.value.exit_code == 2


@pytest.fixture
def pypapi(monkeypatch):
    """pypapi(started): a stand-in for the package, whose PAPI starts or does not."""

    class PapiError(Exception):
        pass

    def install(started=True):
        def library_init():
            if not started:
                raise PapiError("Component error")

        cpu = SimpleNamespace(name="perf_event", disabled=-4, disabled_reason="no PMU")
        network = SimpleNamespace(name="net", disabled=0, disabled_reason="")
        low, package = ModuleType("pypapi.papi_low"), ModuleType("pypapi")
        low.library_init = library_init
        low.num_components = lambda: 2
        low.get_component_info = lambda number: [cpu, network][number]
        low.get_event_info = lambda code: SimpleNamespace(long_descr=f"event {code & 0xFF}")
        low.enum_cmp_event = lambda number: {"native": [SimpleNamespace(symbol=f"net{number}:::bytes", long_descr="")]}
        events = ModuleType("pypapi.events")
        presets = {"PAPI_L1_DCM": -(1 << 31), "PAPI_TOT_INS": 0x32 - (1 << 31)}
        vars(events).update(presets, PAPI_PRESET_MASK=-(1 << 31), PAPI_END=108 - (1 << 31), PAPI_MAX_PRESET_EVENTS=128)
        exceptions = ModuleType("pypapi.exceptions")
        exceptions.PapiError = PapiError
        package.papi_low, package.events = low, events
        monkeypatch.setitem(sys.modules, "pypapi", package)
        monkeypatch.setitem(sys.modules, "pypapi.exceptions", exceptions)

    return install


def test_what_pypapi_knows(pypapi):
    pypapi()
    known = counters.ask_pypapi()
    assert known.presets == {"PAPI_L1_DCM": "event 0", "PAPI_TOT_INS": "event 50"}
    assert list(known.native) == ["net0:::bytes", "net1:::bytes"]
    assert known.trouble == "PAPI has switched off perf_event (no PMU)"
    pypapi(started=False)
    known = counters.ask_pypapi()
    assert known.presets == {"PAPI_L1_DCM": "", "PAPI_TOT_INS": ""}
    assert known.trouble.startswith("pypapi cannot ask PAPI (Component error)")


def test_pypapi_itself_if_it_is_installed():
    """Presets that every PAPI has had since its first release, and what its manual calls one of them."""
    pytest.importorskip("pypapi", reason="python_papi, the extra `papi`, is not installed")
    known = counters.ask_pypapi()
    assert {"PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L1_DCM", "PAPI_FP_OPS"} <= set(known.presets)
    assert known.presets["PAPI_TOT_INS"] in ("Instructions completed", "" if "cannot ask" in known.trouble else None)
    assert not [name for name in known.presets if "MASK" in name or "MAX" in name]


def test_without_pypapi_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypapi", None)
    known = counters.ask_pypapi()
    assert not known.presets
    assert known.trouble.endswith("can be tried only by their full names (pip install 'tracelib[papi]')")


ROWS = [
    {"name": "CPU_NS", "trouble": "", "backend": 1, "type": 42009998, "reading_ns": 250.0, "rested_ns": 1000.0},
    {"name": "perf::CYCLES", "trouble": "this machine does not count it", "backend": 3, "type": 44000001}
    | {"reading_ns": 0.0, "rested_ns": 0.0},
]


@pytest.fixture
def invoke(monkeypatch):
    """invoke(*words, rows): the command, with a library that answers `rows`."""

    def run(*words, rows=ROWS):
        answers = {row["name"]: row for row in rows}
        monkeypatch.setattr(
            counters, "_ask_library", lambda names: list(answers) if names is None else [answers[n] for n in names]
        )
        monkeypatch.setattr(counters, "ask_pypapi", lambda: counters.PapiEvents({}, {}, "pypapi is not installed"))
        done = CliRunner().invoke(commands.commands, ["counters", *words], standalone_mode=False)
        return done.return_value, done.stdout

    return run


def test_costs_by_hand(invoke):
    """2 readings of 250 ns a call; 1000 calls a second with 2 readings of 1 us each are 2 ms of a second."""
    code, text = invoke("--json")
    found = json.loads(text)["counters"]
    assert code == 0
    assert [(c["call_ns"], c["core_share_at_1khz"], c["counts"]) for c in found] == [(500, 0.002, True), (0, 0, False)]


def test_for_people(invoke):
    code, text = invoke()
    lines = text.splitlines()
    assert code == 0
    assert lines[1] == "CPU_NS       CPU clock  42009998     250 ns  500 ns  0.200% of a core"
    assert lines[3:5] == ["not here: this machine does not count it", "  perf::CYCLES"]
    assert lines[-1] == "pypapi is not installed"


def test_the_exit_code_says_whether_anything_counts(invoke):
    assert invoke("perf::cycles")[0] == 1
    assert invoke("perf::cycles", "cpu_ns")[0] == 0


def test_the_library_itself_counts_cpu_time(monkeypatch):
    """It counts in a process of its own; whatever this machine counts, its costs are a working clock's."""
    monkeypatch.setattr(counters, "ask_pypapi", lambda: counters.PapiEvents({}, {}))
    (found, missing), (everything, _) = counters.look(["CPU_NS", "perf::NONSENSE"]), counters.look([])
    assert not missing
    assert (found[0].counts, found[0].read_by, found[0].type) == (True, "CPU clock", 42009998)
    assert 0 < found[0].reading_ns < 1e6
    assert 0 < found[0].rested_ns < 1e7
    assert (found[1].counts, found[1].trouble) == (False, "no such perf event")
    names = [c.name for c in everything]
    page = (DOCS / "counters.md").read_text()
    rows = [row for row in page.splitlines() if row.startswith("| `perf::")]
    documented = {f"perf::{name}" for row in rows for name in re.findall(r"`(?:perf::)?([A-Z][A-Z0-9-]+)`", row)}
    assert names[0] == "CPU_NS"
    assert sorted(names[1:]) == sorted(documented)
