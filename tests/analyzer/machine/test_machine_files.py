"""Settings of files in machine files, in both forms."""

import pytest

from analyzer.errors import TracelibError
from analyzer.machine.description import FileSystem, GaussianNumber, Machine, UniformNumber
from analyzer.machine.read_cfg import read_cfg
from analyzer.machine.read_toml import machine_of
from analyzer.machine.write_cfg import cfg_text

NODE = """#DIMEMAS_CONFIGURATION
"environment information" {"", 0, "", 1, 0.0, 0, 1};;
"node information" {0, "", 1, 1.0, 0.0, 0.0, 0, 0, 0, 0.0, 0, 0, 0.0};;
"""


def of_cfg(tmp_path, numbers):
    (tmp_path / "m.cfg").write_text(f'{NODE}"file system parameters" {{{numbers}}};;\n')
    return read_cfg(tmp_path / "m.cfg").machine


def test_all_keys():
    given = {
        "latency_us": 500, "read_bandwidth_mb": 300, "write_bandwidth_mb": {"uniform": [50, 100]}, "servers": 4,
        "block_bytes": 4096, "open_us": 1000, "close_us": 200, "sync_us": {"gaussian": [100, 10]},
    }  # fmt: skip
    found = FileSystem(5e-4, 300.0, UniformNumber(50.0, 100.0), 4, 4096, 1e-3, 2e-4, GaussianNumber(1e-4, 1e-5))
    assert machine_of({"files": given}).files == found


def test_one_bandwidth_is_that_of_both_ways():
    assert machine_of({"files": {"bandwidth_mb": 7}}).files == FileSystem(0.0, 7.0, 7.0)
    assert machine_of({"files": {"bandwidth_mb": 7, "read_bandwidth_mb": 9}}).files == FileSystem(0.0, 9.0, 7.0)
    assert machine_of({"files": {"bandwidth_mb": 7, "read_bandwidth_mb": "inf"}}).files == FileSystem(0.0, 0.0, 7.0)


def test_an_empty_table_is_a_file_system_that_takes_no_time():
    assert machine_of({"files": {}}).files == FileSystem()
    assert machine_of({}).files is None


@pytest.mark.parametrize(
    "given, says",
    [
        ({"bandwith_mb": 7}, "did you mean bandwidth_mb"),
        ({"servers": -1}, "from 0"),
        ({"latency_us": "inf"}, "finite"),
        ({"block_bytes": 0.5}, "whole number"),
    ],
)
def test_mistakes(given, says):
    with pytest.raises(TracelibError) as error:
        machine_of({"files": given})
    assert says in f"{error.value} {error.value.hint}" and "[files]" in str(error.value)


def test_the_record_of_dimemas(tmp_path):
    """Latency in s, MB/s, blocks of KB, requests at once, hit ratio."""
    assert of_cfg(tmp_path, "0.0005, 100.0, 8.0, 3, 1.0").files == FileSystem(5e-4, 100.0, 100.0, 3, 8192)


def test_the_record_of_the_templates_says_nothing(tmp_path):
    """Dimemas's own templates have it in every file: then files last as long as in the run."""
    for hits in (0.0, 1.0):
        assert of_cfg(tmp_path, f"0.0, 0.0, 8.0, 0, {hits}").files is None


@pytest.mark.parametrize(
    "numbers, says",
    [
        ("0.0005, 100.0, 8.0, 3, 0.5", "hit ratio of 0.5 is not simulated"),
        ("0.0005, 100.0, 8.0, 3, 1.5", "from 0 to 1"),
        ("-0.0005, 100.0, 8.0, 3, 1.0", "line 4"),
        ("0.0005, 100.0, 8.0, 3.5, 1.0", "line 4"),
    ],
)
def test_mistakes_in_the_record(tmp_path, numbers, says):
    with pytest.raises(TracelibError) as error:
        of_cfg(tmp_path, numbers)
    assert says in f"{error.value} {error.value.hint}"


@pytest.mark.parametrize("files", [FileSystem(5e-4, 100.0, 100.0, 3, 8192), FileSystem(5e-4), None])
def test_a_cfg_says_the_same(tmp_path, files):
    (tmp_path / "m.cfg").write_text(cfg_text(Machine(files=files), 2)[0])
    assert read_cfg(tmp_path / "m.cfg").machine.files == files


@pytest.mark.parametrize(
    "files, says",
    [
        (FileSystem(1e-3, 1.0, 2.0), "bandwidth of writing"),
        (FileSystem(1e-3, open_s=1.0), "open, close and sync"),
        (FileSystem(), "file system that takes no time"),
        (FileSystem(UniformNumber(1.0, 2.0)), "random parameters"),
    ],
)
def test_what_a_cfg_cannot_say(files, says):
    with pytest.raises(TracelibError, match=says):
        cfg_text(Machine(files=files), 2)
