"""Drivers whose quantities the runtime itself records: the program is not asked anything."""

from __future__ import annotations

from tracelib.drivers.driver import Driver

REAL_TIME = "PAPI_REAL_USEC"


class ClockDriver(Driver):
    """The wall-clock time, and the program's own variables (section 2.3.1, the intrinsic driver)."""

    name, observables, declared = "CLOCK", ("CLOCK",), False


class CounterDriver(Driver):
    """Counters of the processor and the kernel (docs/counters.md). PAPI_REAL_USEC is the time, which is always
    there."""

    name, observables = "PAPI", ("PAPI_*", "CPU_NS")

    def environment(self, observable: str) -> dict[str, str]:
        return {} if observable == REAL_TIME else {"TRACELIB_COUNTERS": observable}


class SystemDriver(Driver):
    """Load, CPU, memory, network and disk of each node, sampled once a second."""

    name, observables = "System", ("NODE_*",)

    def environment(self, observable: str) -> dict[str, str]:
        return {"TRACELIB_SYSTEM": "1s"}


class NetworkDriver(Driver):
    """The LoOgGP parameters of the network (section 3.3.1). They are measured beside the program, by `python -m
    tracelib.ngmpi`, and `analyze table --network` adds them to the rows."""

    name, observables = "NGMPI", ("NGMPI_*",)
    advice = (
        "the network is measured beside the run: mpirun -n 2 python -m tracelib.ngmpi; analyze loggp ngmpi.h5; "
        "analyze table run.h5 --network ngmpi.intra.json"
    )
