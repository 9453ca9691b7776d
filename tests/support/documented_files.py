"""Files by the names that pages give them in their command lines: small ones, of the kind that the line needs."""

from __future__ import annotations

import gzip
import re
import shutil
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
from cpu_clock import rank as timed_rank
from paraver_cfg import window, write_cfg
from paths import EPOCH
from placed_runs import placed
from synthetic import WORLD, call, event, label, request, write_run

from analyzer.cli import main
from benchmarks.synthetic.run import write_run as write_synthetic
from tracelib import schema
from tracelib.schema import LabelKind, RequestKind

MS = 1_000_000
ROUNDS, ROUND_NS = 130, 18 * MS
COUNTERS = [(1, 0, 42000052, 4, b"PAPI_FP_OPS"), (1, 1, 42000020, 4, b"PAPI_TLB_DM")]
NAMES = {b"exchange.py": b"halo.c", b"solve.py": b"halo.c", b"main.py": b"halo.c", b"MatMult.py": b"libpetsc.c"}
OF_ROUNDS = re.compile(r"# (Places|analyze (what|waits|structure|representative|hot|views)\b(?!-))")
MACHINE = "[network]\nbandwidth_mb = 100\n[[node]]\ncount = 64\nlatency_us = 50\n"
GLOBS = {"before-*.h5": "before-1.h5 before-2.h5", "after-*.h5": "after-1.h5 after-2.h5"}
GLOBS |= {"run-*.h5": "run-2.h5 run-4.h5 run-8.h5", "heat-*.h5": "heat-2.h5 heat-4.h5 heat-8.h5"}
"""Files that patterns stand for."""


def rounds_run(folder: Path) -> Path:
    """run.h5 of four ranks: 130 rounds of 18 ms, in each of which rank 2 computes longest and all exchange and add up.
    Calls have places and counters, computing is a region and has samples."""
    return write_run(folder, [_rank(rank) for rank in range(4)], [range(4)])


def _rank(rank: int) -> dict:
    calls, chains = [call("MPI_Init", MS, 2 * MS)], [(("main", 10),)]
    requests, events, samples = [], [], [(2 * MS, 0, 0, 0, 0, 0, schema.SAMPLE_BEGIN)]
    right, left, solve = (rank + 1) % 4, (rank - 1) % 4, (("main", 28), ("solve", 19))
    for number in range(ROUNDS):
        at = 3 * MS + number * ROUND_NS
        ready, ends = at + (9 * MS if rank == 2 else 6 * MS), at + 10 * MS
        exchange = {"comm": WORLD, "peer": right, "tag": 1, "sent": 8000, "received": 8000}
        calls.append(call("MPI_Sendrecv", ready, ends, **exchange))
        requests.append(request(RequestKind.RECEIVED, ready, ends, peer=left, tag=1, bytes=8000))
        calls.append(call("MPI_Allreduce", ends + MS, ends + 2 * MS, comm=WORLD, sent=8, received=8))
        chains += [(*solve, ("exchange", 212)), (*solve, ("MatMult", 7))]
        events += [event(at, schema.REGION_TYPE, 1, flags=1), event(ready - MS, schema.REGION_TYPE, 1, flags=2)]
        samples.append((ready - MS, 3 * MS, 2, 0, 0, 0, 0))
    end = 3 * MS + ROUNDS * ROUND_NS
    calls.append(call("MPI_Finalize", end, end + MS))
    tables = placed({"calls": calls}, [*chains, (("main", 30),)])
    tables["functions"] = [(*row[:3], NAMES.get(row[3], row[3])) for row in tables["functions"]]
    counts = (np.arange(4 * len(calls), dtype="<u8") * 1000).tolist()
    own = {"requests": requests, "events": events, "samples": [*samples, (end, 0, 0, 0, 0, 0, schema.SAMPLE_END)]}
    labels = [label(LabelKind.REGION, 1, "compute", schema.REGION_TYPE)]
    return tables | own | {"labels": labels, "counters": COUNTERS, "counts": counts}


def prepare(folder: Path, line: str, page: str) -> None:
    """Puts the files that a line reads into its folder, where they are not there yet. page: its text."""
    for pattern, names in GLOBS.items():
        line = line.replace(pattern, names)
    inputs = re.sub(r"\s(-o|--flame|--csv|--badge|--picture)\s+\S+", " ", line).split()
    for name in inputs:
        if (maker := next((maker for of, maker in MAKERS.items() if fnmatch(name, of)), None)) is None:
            continue
        if not (folder / name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            maker(folder / name, page)


def _packed(path: Path, page: str) -> None:
    """A run of more ranks where its name has a larger number; that of before takes longer."""
    number = int((re.findall(r"\d\d|-\d", path.stem) or ["4" if path.stem in "bd" else "2"])[0].strip("-"))
    ranks = max(2 * number, 4) if number < 32 else number // 4
    made = path.parent / "made" / path.stem
    calls = (300 if path.stem.startswith("before") else 200) // (1 + ranks // 16)
    _analyze("pack", write_synthetic(made, "halo", ranks, calls).path, "-o", path)


def _run(path: Path, page: str) -> None:
    """The run of which places, samples and moments are known, for pages that ask for these."""
    if OF_ROUNDS.match(page):
        rounds_run(path.parent)
    else:
        write_synthetic(path.parent, "halo", 8, 600)


def _packed_rounds(path: Path, page: str) -> None:
    if "analyze fit" in page.partition("\n")[0]:
        return _packed(path, page)
    made = path.parent / "made" / path.stem
    made.mkdir(parents=True)
    _analyze("pack", rounds_run(made), "-o", path)


def _with_cpu_clock(path: Path, page: str) -> None:
    """A run of three ranks whose CPU time is known between calls: rank 0 computes longest."""
    ranks = []
    for busy in (6, 2, 1):
        calls = [call("MPI_Init", MS, 2 * MS), call("MPI_Barrier", (2 + busy) * MS, 9 * MS, comm=WORLD)]
        counts = [schema.NOT_READ, 0, busy * MS, busy * MS]
        ranks.append(timed_rank(calls, counts))
    made = path.parent / "made" / path.stem
    made.mkdir(parents=True)
    _analyze("pack", write_run(made, ranks), "-o", path)


def _shared(path: Path, page: str) -> None:
    for file in EPOCH.glob(path.name.partition(".")[0] + ".*"):
        shutil.copyfile(file, path.parent / file.name)


def _prv(path: Path, page: str) -> None:
    packed = path.parent / f"{path.name.partition('.')[0]}-of.h5"
    _packed(packed, page)
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    _analyze("prv", packed, "-o", plain)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()


def _toml(path: Path, page: str) -> None:
    """The page's own, if it has one."""
    found = re.search(r"```toml\n(.*?)```", page, re.S)
    path.write_text(found[1] if found else MACHINE)


def _cfg(path: Path, page: str) -> None:
    if "views" in page.partition("\n")[0]:
        write_cfg(path, window(1, "State As Is", name="states"))
    else:
        path.with_suffix(".of.toml").write_text(MACHINE)
        _analyze("machine", path.with_suffix(".of.toml"), "--ranks", 4, "-o", path)


def _products(path: Path, _: str) -> None:
    """Misses of a product of matrices and its time, by ranks, size and network."""
    settings = [(p, n, beta) for p in (2, 3, 4, 6) for n in (300, 400, 500) for beta in (10, 100, 1000)]
    wave = 1 + 0.02 * np.sin(np.arange(2 * len(settings))).reshape(-1, 2)
    rows = ["P,N,beta,phi,time"]
    for (p, n, beta), (first, second) in zip(settings, wave.tolist(), strict=True):
        phi = 0.154 * n**3 / p * first
        rows.append(f"{p},{n},{beta},{phi},{(18.7 * n * n / beta + 0.0154 * n**3 / p + 0.19 * phi) * second}")
    path.write_text("\n".join(rows) + "\n")


def _extra_p(path: Path, _: str) -> None:
    """Times of two regions by x, in Extra-P's text form."""
    sizes = (20, 30, 40, 50, 60)
    points = "POINTS " + " ".join(f"( {x} )" for x in sizes)
    regions = [f"REGION {name}\nMETRIC time\n" for name in ("main", "solve")]
    data = "".join(f"DATA {x * x / 5} {x * x / 5 + 1}\n" for x in sizes)
    path.write_text("\n".join(["PARAMETER x", points, *(region + data for region in regions)]))


def _csv(path: Path, page: str) -> None:
    """The page's own table, times of three machines, or a series of counters with a period of 32 rows."""
    if found := re.search(r"```csv\n(.*?)```", page, re.S):
        path.write_text(found[1])
    elif path.stem == "times":
        sizes = (5000, 10000, 20000, 40000)
        times = [f"{m},{n},1,{n * n / k}\n" for m, k in (("taurus", 9e6), ("bio", 4e6), ("intel", 2e6)) for n in sizes]
        path.write_text("machine,n,p,time_s\n" + "".join(times))
    else:
        rows = np.arange(1024)
        values = np.column_stack([2 + np.sin(rows * np.pi / 16), 3 + np.cos(rows * np.pi / 16)])
        np.savetxt(path, values, "%.6f", ",", header="cycles,instructions", comments="")


def _log(path: Path, page: str) -> None:
    _analyze("schedule", "--jobs", 20, "--workloads", 1, "--share", 30, "--policy", "easy", "-o", path)


def _analyze(*words: object) -> None:
    code = main([*map(str, words), "-q"])
    assert code == 0, words


MAKERS = {
    "run.h5": _run,
    "even.h5": _with_cpu_clock,
    "next.h5": _with_cpu_clock,
    "epoch_*.prv.gz": _shared,
    "[bc].h5": _packed_rounds,
    "new.h5": _packed_rounds,
    "old.h5": _packed_rounds,
    "*.h5": _packed,
    "*.prv.gz": _prv,
    "*.prv": _prv,
    "*.toml": _toml,
    "*.cfg": _cfg,
    "runs.csv": _csv,
    "products.csv": _products,
    "times.csv": _csv,
    "counters.csv": _csv,
    "measured.txt": _extra_p,
    "log.swf": _log,
}
"""By pattern; the first that fits."""
