"""Programs that nobody wrote for this project: same results as untraced, every call counted, every message matched.

These four are in every continuous integration; `make apps` tries more of them, with all commands."""

import pytest
from apps import checks
from apps.debian import version
from apps.measure import measure
from apps.registry import BY_NAME
from pages import check_pages
from result import rank_files

from analyzer.writers.packed import pack_run
from tracelib.schema import OFF_CPU_TYPE

pytestmark = pytest.mark.long

NAMES_BYTES = 30_000
"""Bytes of names in a packed run: paths of calls and the names of their places. A longer run has no more of them."""
MOST_BYTES_PACKED, MOST_BYTES_OFF_CPU = 10, 20
"""Largest number of bytes of the whole packed file for each call, and for each long time without a CPU."""
PACKED_WELL = ("lammps", "hpcc")
LOOKED_AT = {"lammps": "MPI_Send", "hpcc": "MPI_Allreduce"}
"""In a browser, and a call that each makes."""


@pytest.mark.parametrize(
    ("name", "leg_name"),
    [("lammps", "openmpi"), ("hpcc", "openmpi"), ("scalapack", "openmpi"), ("scalapack", "mpich")],
)
def test_real_program(request, counter, spool, analyze, tmp_path, name, leg_name):
    application, leg = BY_NAME[name], request.getfixturevalue(leg_name)
    if missing := [package for package in application.packages if not version(package)]:
        pytest.skip(f"{', '.join(missing)} is not installed")
    environment = {"TRACELIB_SPOOL": str(spool), "TRACELIB_CPUTIME": "off"}
    measured = measure(application, leg, counter(leg), tmp_path, environment)
    messages = checks.read_messages(measured.run)
    assert checks.check_recording(measured, messages) == []
    assert messages.matched > 0
    analyze("check", measured.run).check()
    analyze("replay", measured.run, "--json").check()
    if name in PACKED_WELL:
        packed = pack_run(str(measured.run), measured.folder / "packed.h5")
        calls = sum(f.counts().total() for f in rank_files(measured.run))
        off_cpu = sum(int((f.tables["events"]["type"] == OFF_CPU_TYPE).sum()) for f in rank_files(measured.run))
        most = MOST_BYTES_PACKED * calls + MOST_BYTES_OFF_CPU * off_cpu + NAMES_BYTES
        assert packed.size_bytes <= most
    if name in LOOKED_AT:
        check_pages(measured.run, tmp_path, LOOKED_AT[name])
