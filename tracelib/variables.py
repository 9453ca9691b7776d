"""The environment variables that the library understands, once: csrc/build_runtime.py takes them from here, too."""

NAMES = (
    "TRACELIB_ALONE",
    "TRACELIB_BUFFER",
    "TRACELIB_BURSTS",
    "TRACELIB_CALLS",
    "TRACELIB_CLOCK",
    "TRACELIB_COMPRESS",
    "TRACELIB_COUNTERS",
    "TRACELIB_CPUTIME",
    "TRACELIB_DEBUG",
    "TRACELIB_DELAY",
    "TRACELIB_DISABLE",
    "TRACELIB_DRIVERS",
    "TRACELIB_DURATION",
    "TRACELIB_GANGLIA",
    "TRACELIB_LIMIT",
    "TRACELIB_LIMIT_POLICY",
    "TRACELIB_NWS",
    "TRACELIB_OUTPUT",
    "TRACELIB_PAPI",
    "TRACELIB_PAPI_LIBRARY",
    "TRACELIB_PLAN",
    "TRACELIB_PYTHON",
    "TRACELIB_QUIET",
    "TRACELIB_REGIONS",
    "TRACELIB_ROTATE",
    "TRACELIB_SAMPLE",
    "TRACELIB_SAMPLER",
    "TRACELIB_SPOOL",
    "TRACELIB_STACK",
    "TRACELIB_START",
    "TRACELIB_SYNC",
    "TRACELIB_SYSTEM",
)
"""All variables. Any other name that begins with TRACELIB_ is reported to the user as a mistake."""

BUFFER_BYTES = (4096, 64 << 30)
LIMIT_BYTES = (1 << 20, 1 << 50)
"""The least and the most that TRACELIB_BUFFER and TRACELIB_LIMIT may say."""
