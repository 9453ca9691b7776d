"""Drivers whose quantities the runtime itself records, without asking the program."""

from __future__ import annotations

from tracelib.drivers.driver import Driver

REAL_TIME = "PAPI_REAL_USEC"
"""Observable that is the time, and always recorded."""


class ClockDriver(Driver):
    """Driver of the wall-clock time and the program's own variables (section 2.3.1, the intrinsic driver)."""

    name, observables, declared = "CLOCK", ("CLOCK",), False


class CounterDriver(Driver):
    """Driver of counters of the processor and the kernel (docs/counters.md).

    PAPI_REAL_USEC is the time, which is always recorded.
    """

    name, observables = "PAPI", ("PAPI_*", "CPU_NS")

    def environment(self, observable: str) -> dict[str, str]:
        return {} if observable == REAL_TIME else {"TRACELIB_COUNTERS": observable}


class SystemDriver(Driver):
    """Driver of load, CPU, memory, network and disk of each node, sampled once a second."""

    name, observables = "System", ("NODE_*",)

    def environment(self, observable: str) -> dict[str, str]:
        return {"TRACELIB_SYSTEM": "1s"}


class NetworkDriver(Driver):
    """Driver of the LoOgGP parameters of the network (section 3.3.1).

    `python -m tracelib.ngmpi` measures them separately from the program, and `analyze table --network` adds them to the
    rows.
    """

    name, observables = "NGMPI", ("NGMPI_*",)
    advice = (
        "the network is measured beside the run: mpirun -n 2 python -m tracelib.ngmpi; analyze loggp ngmpi.h5; "
        "analyze table run.h5 --network ngmpi.intra.json"
    )
