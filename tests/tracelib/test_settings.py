"""Settings that would do nothing are found before anything is started; the names of all of them stand in one place."""

import ctypes
import re

import compiled
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

from tracelib import commands, settings, variables
from tracelib.doctor import check_variables
from tracelib.errors import TracelibError


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """csrc/runtime/common/settings.c alone, which reads the same texts."""
    found = compiled.library(
        tmp_path_factory.mktemp("settings"),
        "common/settings.c",
        "common/time_text.c",
        "common/user_message.c",
        "common/signals.c",
    )
    found.setting_bytes.argtypes = [ctypes.c_char_p] + [ctypes.c_uint64] * 3
    found.setting_bytes.restype = ctypes.c_uint64
    found.setting_time_ns.restype = ctypes.c_int64
    return found


@pytest.fixture
def put():
    """putenv as C sees it; `os.environ` would do the same, but leaves it to itself when."""
    libc = ctypes.CDLL(None)
    yield lambda text: libc.setenv(b"TRACELIB_TRIED", text.encode(), 1)
    libc.unsetenv(b"TRACELIB_TRIED")


NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str),
    st.floats(0, 1e6, allow_nan=False).map(lambda x: f"{x:.4f}"),
    st.sampled_from(["1.", ".5", "", "-1", "x"]),
)
BOUNDS = st.sampled_from([variables.BUFFER_BYTES, variables.LIMIT_BYTES])


def value_of(read, *arguments):
    """Return the value that `read` finds; 0 for a text that it refuses."""
    try:
        return read(*arguments)
    except TracelibError:
        return 0


def test_sizes_are_those_of_the_library(library, put):
    @given(NUMBERS, st.sampled_from(["", "K", "k", "M", "G", "T", "t", "B", "MB"]), BOUNDS)
    def same(number, unit, bounds):
        put(number + unit)
        assert value_of(settings.size_bytes, number + unit, *bounds) == library.setting_bytes(
            b"TRACELIB_TRIED", *bounds, 0
        ) * bool(number)

    same()


def test_times_are_those_of_the_library(library, put):
    @given(NUMBERS, st.sampled_from(["", "s", "ms", "us", "ns", "m", "min", "h", "d", "S"]))
    def same(number, unit):
        put(number + unit)
        assert value_of(settings.time_ns, number + unit) == library.setting_time_ns(b"TRACELIB_TRIED")

    same()


@pytest.mark.parametrize(
    "text,bytes_", [("1M", 1 << 20), ("1.5g", 3 << 29), ("2097152", 2 << 20), ("3k", 0), ("1023K", 0), ("2000T", 0)]
)
def test_sizes_by_hand(text, bytes_):
    assert value_of(settings.size_bytes, text, *variables.LIMIT_BYTES) == bytes_


@pytest.mark.parametrize(
    "words,said",
    [
        (["--limit", "3k"], "--limit: '3k' is not a size from 1M to 1024T; write it as 200M"),
        (["--limit", "much"], "--limit: 'much' is not a size from 1M to 1024T; write it as 200M"),
        (["--limit", ""], "--limit: '' is not a size"),
        (["--buffer", "1K"], "--buffer: '1K' is not a size from 4K to 64G"),
        (["--policy", "ring"], "--policy says what happens at a limit, and there is none; add --limit 200M"),
        (["--delay", "soon"], "--delay: 'soon' is not a time; write it as 100us, 5ms, 10s or 2m"),
        (["--bursts", "0"], "--bursts: '0' is not a time"),
        (["--regions", ","], "--regions: ',' names no region"),
    ],
)
def test_options_that_would_do_nothing_are_refused(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TracelibError) as error:
        commands.commands(["run", *words, "--", "touch", "started"], standalone_mode=False)
    assert error.value.line.startswith(said)
    assert not list(tmp_path.iterdir()), "nothing was started"


def test_a_policy_for_a_limit_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for environment, code in [({"TRACELIB_LIMIT": "2M"}, 0), ({}, 1)]:
        arguments = ["run", "--policy", "ring", "--", "true"]
        assert CliRunner(env=environment).invoke(commands.commands, arguments).exit_code == code


def test_the_doctor_names_what_may_be_meant():
    assert settings.unknown({"TRACELIB_LIMTI": "1", "TRACELIB_LIMIT": "1M", "HOME": "", "TRACELIB_ZZZZZZZ": ""}) == {
        "TRACELIB_LIMTI": "TRACELIB_LIMIT",
        "TRACELIB_ZZZZZZZ": "",
    }
    (finding,) = check_variables({"TRACELIB_BUFER": "1M"})
    assert (finding.verdict, finding.text) == ("note", "TRACELIB_BUFER=1M is not a setting: it does nothing")
    assert finding.hint == "is it meant for TRACELIB_BUFFER?"


def test_each_variable_is_read_and_documented():
    files = [*compiled.RUNTIME.rglob("*.c"), *(ROOT / "tracelib" / "include").glob("*.h")]
    code = "".join(path.read_text() for path in files)
    read = set(re.findall(r"\b(?:getenv|setting_\w+)\(\"(TRACELIB_[A-Z_]+)\"", code))
    drivers = "".join(path.read_text() for path in (ROOT / "tracelib" / "drivers").glob("*.py"))
    read |= set(re.findall(r"\"(TRACELIB_[A-Z]+)\"", drivers))
    assert read == set(variables.NAMES)
    pages = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    assert [name for name in variables.NAMES if f"`{name}" not in pages] == []


@pytest.mark.parametrize("text", ["1ms", "10us", "perf::INSTRUCTIONS:1000000", "PAPI_TOT_INS:5"])
def test_sampling_that_is_wanted(text):
    settings.check_sampling(text)


@pytest.mark.parametrize("text", ["", "often", "9us", "0", "perf::INSTRUCTIONS", "perf::INSTRUCTIONS:0", "5:5", ":5"])
def test_sampling_that_means_nothing_is_refused(text):
    with pytest.raises(TracelibError, match="neither a time from 10us on nor an event"):
        settings.check_sampling(text)
