"""Drivers of the thesis, against small servers and programs of their kind, and of other packages."""

import io
import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from click.testing import CliRunner
from gmond import REPLY, gmond_server
from patience import patient

import analyzer
from analyzer.experiments.formats import read_table
from analyzer.experiments.formats.tia_xml import DTD
from tracelib import commands
from tracelib.call.files import translate_file
from tracelib.drivers import Driver, driver_named, driver_of, registry
from tracelib.drivers.nws import NwsHosts
from tracelib.errors import TracelibError
from tracelib.launchers import INCLUDE, library


@pytest.fixture
def gmond():
    with gmond_server() as address:
        yield address


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_which_driver_an_observable_belongs_to():
    of = {"CLOCK": "CLOCK", "PAPI_L2_TCM": "PAPI", "GANGLIA_MPI": "Ganglia", "NWS_LBW": "NWS", "NGMPI_LOGP": "NGMPI"}
    assert {observable: driver_of(observable).name for observable in of} == of
    assert driver_of("PAPI_L2_TCM").environment("PAPI_L2_TCM") == {"TRACELIB_COUNTERS": "PAPI_L2_TCM"}
    assert driver_of("PAPI_REAL_USEC").environment("PAPI_REAL_USEC") == {}
    assert driver_of("NODE_load_1").environment("NODE_load_1") == {"TRACELIB_SYSTEM": "1s"}


def test_the_reply_of_ganglia_is_kept_as_it_is(folder, gmond, monkeypatch):
    monkeypatch.setenv("TRACELIB_GANGLIA", gmond)
    said = driver_named("Ganglia").read("end", "gan_exp")
    (path,) = folder.iterdir()
    assert path.name == f"gan_exp.{said['ganglia']}.ganglia.xml" and path.read_bytes() == REPLY
    assert float(said["ganglia"]) == said["ganglia"]


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", ":1", "127.0.0.1:"])
def test_where_nobody_answers(folder, monkeypatch, address):
    refused(folder, monkeypatch, address)


def test_where_somebody_else_answers(folder, monkeypatch):
    with gmond_server(b"<html>") as address:
        refused(folder, monkeypatch, address)


def refused(folder, monkeypatch, address):
    """One line, no file, and the program that asked goes on."""
    monkeypatch.setenv("TRACELIB_GANGLIA", address)
    with pytest.raises(TracelibError) as raised:
        driver_named("Ganglia").read("end", "e")
    assert "\n" not in raised.value.line and not list(folder.iterdir())
    ran = CliRunner().invoke(commands.commands, ["drivers", "Ganglia", "end", "e"])
    assert (ran.exit_code, ran.stdout) == (0, "") and ran.stderr.startswith("tracelib: Ganglia: ")


FIGURE = "nameserver serv01\nmemoryserver serv01\nsensors 3\nsensor node01\nsensor node02\nsensor node03\n"


def test_the_configuration_of_nws():
    """Fig. 2.6."""
    assert NwsHosts.parse(FIGURE) == NwsHosts("serv01", "serv01", ("node01", "node02", "node03"))
    for wrong in (
        "sensor a\n",
        "nameserver a\n",
        "hosts 3\n",
        "sensors\n",
        FIGURE.replace("3", "4", 1) + "sensor x y\n",
    ):
        with pytest.raises(ValueError):
            NwsHosts.parse(FIGURE.replace("sensors 3\n", "sensors 4\n") if wrong == "sensors\n" else wrong)


NWS_PROGRAM = """#!{python}
import sys, pathlib
name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
with open("{folder}/asked", "a") as file:
    print(name, *words, file=file)
if name == "nws_extract":
    print("Time Source Destination Measurement")
    for number, value in enumerate([2.0, 4.0] if "latencyTcp" in words else [90.0, 94.0]):
        print(1700000000.5 + number, "node01", "node02", value)
"""


@pytest.fixture
def nws(folder, monkeypatch):
    """Programs in the PATH that take what NWS's take, note it, and print a series as `nws_extract` does."""
    programs = folder / "bin"
    programs.mkdir()
    for name in ("nws_ctrl", "nws_extract"):
        (programs / name).write_text(NWS_PROGRAM.format(python=sys.executable, folder=folder))
        (programs / name).chmod(0o755)
    (folder / "nws.conf").write_text(FIGURE)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return folder


def test_latency_and_bandwidth_of_nws(nws):
    etree = pytest.importorskip("lxml.etree")
    driver = driver_named("NWS")
    assert driver.read("begin", "nws_exp") == {}
    assert driver.read("end", "nws_exp") == {"nws_latency": 3.0, "nws_bandwidth": 92.0}
    asked = [line.split() for line in (nws / "asked").read_text().splitlines()]
    assert [words[:5] for words in asked[:2]] == [
        ["nws_ctrl", "-N", "serv01", "start", "node01"],
        ["nws_ctrl", "-N", "serv01", "stop", "node01"],
    ]
    assert asked[0][-3:] == ["member:node01", "member:node02", "member:node03"] and asked[1][-1] == "tracelib-nws_exp"
    assert [words[-4] for words in asked[2:]] == ["latencyTcp", "bandwidthTcp"]
    (path,) = nws.glob("nws_exp.*.nws.xml")
    assert etree.DTD(io.StringIO(DTD)).validate(etree.parse(path))
    frame = read_table(path)
    assert frame["value"].tolist() == [2, 4, 90, 94] and frame["time"][1] == 1700000001.5
    assert frame["series"].tolist() == ["latencyTcp"] * 2 + ["bandwidthTcp"] * 2


def test_without_nws(folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(TracelibError, match=r"cannot read nws\.conf"):
        driver_named("NWS").read("begin", "e")
    (folder / "nws.conf").write_text(FIGURE)
    with pytest.raises(TracelibError, match="cannot start nws_ctrl"):
        driver_named("NWS").read("begin", "e")


class Thermometer(Driver):
    name, observables, moments = "Thermometer", ("HEAT_*",), ("begin", "end")

    def read(self, moment, experiment):
        return {f"kelvin_{moment}": 300 if moment == "begin" else 301.5}


@pytest.fixture
def thermometer(monkeypatch):
    """A driver of another package, by its entry point."""
    entry = EntryPoint("Thermometer", f"{__name__}:Thermometer", registry.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: Thermometer)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == registry.GROUP else [])
    registry.drivers.cache_clear()
    yield
    registry.drivers.cache_clear()


def test_a_driver_of_another_package(thermometer, folder):
    source = "int main(void)\n{\n#pragma cll uses Thermometer\n;\n#pragma cll e HEAT_K=e[0]\n;\n#pragma cll end e\n}\n"
    (folder / "a.c").write_text(source)
    assert translate_file("a.c", None, False).experiments == ("e",)
    text = (folder / "a.cll.c").read_text()
    assert text.count('tracelib_driver("Thermometer", "begin", "e")') == 1
    assert text.count('tracelib_driver("Thermometer", "end", "e")') == 1
    ran = CliRunner().invoke(commands.commands, ["drivers", "Thermometer", "end", "e"])
    assert ran.stdout == "kelvin_end 301.5\n"
    assert "Thermometer HEAT_*" in CliRunner().invoke(commands.commands, ["drivers"]).stdout
    for words in (["Nobody", "end", "e"], ["Thermometer", "later", "e"], ["Thermometer"]):
        assert CliRunner().invoke(commands.commands, ["drivers", *words]).exit_code


PROGRAM = """#include <stdio.h>
int main(void)
{
    int n = 4;
#pragma cll uses Ganglia
    for (n = 4; n < 6; n++) {
#pragma cll gan_exp GANGLIA_MPI=gan_exp[0]*n
        printf("%d\\n", n);
#pragma cll end gan_exp
    }
    return 0;
}
"""


def test_a_running_program_asks_ganglia(folder, gmond):
    """Without MPI; `analyze table` finds the replies by what the region says, and takes the metrics of the row's
    node."""
    (folder / "a.c").write_text(PROGRAM)
    translate_file("a.c", None, False)
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "-I", str(INCLUDE), "a.cll.c", "-o", "a"], check=True)
    environment = os.environ | {"LD_PRELOAD": str(library()), "TRACELIB_GANGLIA": gmond}
    environment |= {"TRACELIB_QUIET": "1"}
    done = subprocess.run(["./a"], env=environment, capture_output=True, text=True, timeout=patient(120))
    assert (done.returncode, done.stdout, done.stderr) == (0, "4\n5\n", "")
    frame = analyzer.experiments_frame(["run.h5"])
    waited = frame["ask_Ganglia_end_s"]
    assert (waited > 0).all() and (waited <= frame["time"]).all()
    assert measuring("run.h5")["Ganglia"] == (2, pytest.approx(waited.sum()), "measured")
    assert "Ganglia: 2 answers, " in info("run.h5")
    numbers = frame["ganglia"].astype(int).tolist()
    assert frame["n"].tolist() == [4, 5]
    assert sorted(path.name for path in folder.glob("*.ganglia.xml")) == [f"gan_exp.{n}.ganglia.xml" for n in numbers]
    (folder / f"gan_exp.{numbers[0]}.ganglia.xml").write_bytes(
        REPLY.replace(b"node1.cluster", os.uname().nodename.encode())
    )
    (folder / f"gan_exp.{numbers[1]}.ganglia.xml").write_bytes(
        REPLY.replace(b"node0.cluster", os.uname().nodename.encode())
    )
    found = analyzer.experiments_frame(["run.h5"], ganglia=("load_one", "cpu_num"))
    assert found["ganglia_load_one"].tolist() == [1.5, 0.25]
    assert found["ganglia_cpu_num"].fillna(-1).tolist() == [-1, 8]
    with pytest.raises(analyzer.TracelibError, match="Ganglia says no heat"):
        analyzer.experiments_frame(["run.h5"], ganglia=("heat",))
    (folder / f"gan_exp.{numbers[0]}.ganglia.xml").unlink()
    with pytest.raises(analyzer.TracelibError, match="there is no file"):
        analyzer.experiments_frame(["run.h5"], ganglia=("load_one",))


def info(run, *options):
    """Return the output of `analyze look --no-files`."""
    words = [sys.executable, "-m", "analyzer", "look", "--no-files", run, *options]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=patient(120)).stdout


def measuring(run):
    """Return each driver's count, time, and origin of the time, from `analyze look --no-files`."""
    found = json.loads(info(run, "--json"))
    return {one["driver"]: (one["count"], one["time_s"], one["how"]) for one in found["drivers"]}


PYTHON = """
from tracelib.drivers.asking import measured
with measured("exchange", "Ganglia", n=3):
    pass
with measured("exchange", "Ganglia", first=False, n=4):
    pass
"""


def test_a_python_program_asks_ganglia(folder, gmond):
    environment = os.environ | {"LD_PRELOAD": str(library()), "TRACELIB_GANGLIA": gmond, "TRACELIB_QUIET": "1"}
    subprocess.run([sys.executable, "-c", PYTHON], env=environment, check=True, timeout=patient(120))
    frame = analyzer.experiments_frame(["run.h5"])
    assert frame["n"].tolist() == [3, 4] and frame["ganglia"].notna().tolist() == [True, False]
    count, time_s, how = measuring("run.h5")["Ganglia"]
    assert (count, how) == (1, "measured") and 0 < time_s <= frame["time"][0]


NESTED = """
import time
from tracelib import regions
from tracelib.drivers.asking import measured
with measured("around", "Ganglia"):
    with regions.region("inner", n=3):
        time.sleep(0.001)
"""


def test_the_time_of_asking_is_of_the_region_that_asked(folder, gmond):
    """The driver's values are known in the regions inside; the time that it took does not count there."""
    environment = os.environ | {"LD_PRELOAD": str(library()), "TRACELIB_GANGLIA": gmond, "TRACELIB_QUIET": "1"}
    subprocess.run([sys.executable, "-c", NESTED], env=environment, check=True, timeout=patient(120))
    frame = analyzer.experiments_frame(["run.h5"]).set_index("region")
    assert frame["ganglia"].notna().all()
    assert frame["ask_Ganglia_end_s"].notna().to_dict() == {"around": True, "inner": False}
