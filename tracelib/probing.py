"""Asks libtrace.so about counters: the process of `tracelib counters` that has the library in it, as a rank would.

    LD_PRELOAD=libtrace.so python -c "import tracelib.probing; tracelib.probing.main()"

reads names as a JSON list from its standard input and writes for each what came of opening and reading it in this
process; for `null` it writes the names that it knows.
"""

from __future__ import annotations

import json
import sys
from itertools import count, takewhile

from tracelib._functions import ffi


def own_names(probes) -> list[str]:
    """Return the counters that need no library but libtrace.so."""
    texts = takewhile(lambda text: text != ffi.NULL, (probes.name(number) for number in count()))
    return [ffi.string(text).decode() for text in texts]


def probe(probes, name: str) -> dict[str, object]:
    """Test whether one counter counts here; costs in ns."""
    found = ffi.new("struct tracelib_probe *")
    probes.counter(name.encode(), found)
    trouble = ffi.string(found.trouble).decode(errors="replace") if found.trouble != ffi.NULL else ""
    costs = {"reading_ns": round(found.reading_ns, 1), "rested_ns": round(found.rested_ns, 1)}
    return {"name": name, "trouble": trouble, "backend": found.backend, "type": found.type} | costs


def main() -> None:
    """Answer one request."""
    probes = ffi.dlopen(None).tracelib_probes
    wanted = json.load(sys.stdin)
    answer = own_names(probes) if wanted is None else [probe(probes, name) for name in wanted]
    json.dump(answer, sys.stdout)
