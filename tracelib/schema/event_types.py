"""Types of the rows of `events`: the Paraver types of events that the tracer writes, and of counters.

The C runtime takes them from here, too. `docs/format.md` says in prose what each means.
"""

from enum import IntEnum

FLUSH_TYPE = 40000003
TRACING_TYPE = 40000012
"""Value 0: from here nothing is recorded; 1: from here it is again."""
COUNTER_SET_TYPE = 42009999
"""Value: the set of counters that is read from here."""
PAPI_PRESET_BASE = 42000000
"""Plus the lower 16 bits of the preset's code: Extrae's numbers of PAPI_TOT_INS, ..."""
NATIVE_COUNTER_BASE = 44000000
"""Plus a number below 1000000 made of the name: all other counters, where Extrae has them, too."""
CPU_TIME_TYPE = 42009998
"""Type of the counter CPU_NS."""
MISSED_SAMPLES_TYPE = 49000005
"""In the rows of SAMPLER_THREAD. Value: number of samples since the last event of this type that could not be taken."""
SAMPLER_THREAD = 65535
"""Thread of the events that are samples: readings (types of `counters`) of the thread in `flags`."""
NOT_READ = 2**64 - 1
"""A reading in `counts` that could not be taken."""
REGION_TYPE = 60000019
"""Value: number of a region (`labels`); flags 1: it begins, 2: it ends."""
PARAMETER_TYPE = 49000001
"""After the begin of a region: value of the parameter whose number is in flags (the upper bit: bits of a double)."""
PARALLEL_TYPE = 49000002
"""After the begin of a region. Value: number of threads for which its computation stands."""
ERROR_TYPE = 49000003
"""At the exit of a call that failed: class of the error that it returned, or CALL_WAS_LEFT."""
CALL_WAS_LEFT = 32768
"""The call did not return: an error handler of the program left it by longjmp or an exception. Its row has no
duration, and says nothing of others."""
SYNC_TYPE = 49000004
"""Value 1: from here clocks are measured between two calls; 0: to here. The time is the tracer's own, as a flush."""
PATHS_TYPE = 49000008
"""Value 1: from here the callers of the next call are looked for; 0: to here. The time is the tracer's own."""
CPU_WAIT_TYPE = 49000006
"""In predicted runs. A value of CpuWait: from here the thread waits for a CPU, or the CPU switches to it; 0: to here.
"""

PREDICTED_TYPE = 49000007
"""At the begin of rank 0, value 1: the run was predicted by a replay."""
OFF_CPU_TYPE = 49000015
"""Value: ns without a CPU since the thread's event of this type before it. flags: OffCpuState. A RUN_DELAY is
next."""
RUN_DELAY_TYPE = 49000016
"""Right after OFF_CPU. Value: the part of that time in which the thread could have run and waited for a CPU; -1: the
kernel does not say."""


class OffCpuState(IntEnum):
    """Where a thread was when it had no CPU: `flags` of OFF_CPU_TYPE."""

    OUTSIDE = 0  # outside MPI: the computation that ends here
    INSIDE = 1  # inside the call that ended last
    SHORT = 2  # in computations and calls too short to be looked at; of value 0: from here on the thread is looked at


class CpuWait(IntEnum):
    """Where a thread waits for a CPU."""

    OUTSIDE = 1  # MPI: it has something to compute
    INSIDE = 2  # a call


TRACERS_TYPES = (
    FLUSH_TYPE,
    TRACING_TYPE,
    COUNTER_SET_TYPE,
    ERROR_TYPE,
    SYNC_TYPE,
    PATHS_TYPE,
    MISSED_SAMPLES_TYPE,
    CPU_WAIT_TYPE,
    PREDICTED_TYPE,
    OFF_CPU_TYPE,
    RUN_DELAY_TYPE,
)
"""Types of the events that are not the program's own."""
