"""The runs that a campaign damages: short ones that have a row of every table."""

from __future__ import annotations

from pathlib import Path
from random import Random

import h5py
import numpy as np
from dim_text import random_program
from killed import write_spool
from synthetic import FIRST, WORLD, Ticks, call, event, flush, label, poll, request, skipped, table_of, write_run

from analyzer.places import ModuleNames, NameCache, places_file, write_names
from analyzer.places.modules import LoadedModule
from analyzer.places.name_table import Frame, PlaceFrames
from csrc.generate import links, template
from tracelib import schema
from tracelib.schema import LabelKind, Peer, ProcessState, RequestKind
from tracelib.schema.spool import BOOT_ID

RANKS = 3
ROUND_NS = 20_000
ROUNDS = 6
_NOBODY = 2**22 + 1
"""A process number that no process has."""
_LABELS = [
    label(LabelKind.REGION, 1, "solve", schema.REGION_TYPE),
    label(LabelKind.REGION, 2, "exchange", schema.REGION_TYPE),
    label(LabelKind.PARAMETER, 1, "rows"),
    label(LabelKind.EVENT_TYPE, 0, "step", 70),
    label(LabelKind.EVENT_VALUE, 1, "first", 70),
]
_COUNTERS = [(1, 0, schema.CPU_TIME_TYPE, 1, b"CPU_NS"), (1, 1, 42000050, 4, b"PAPI_TOT_INS")]


_PATHS = [(0, 0, 0), (0, 1, 0x1200), (1, 1, 0x1300), (1, schema.PATH_IN_FUNCTION | 1, 14), (0, 0, schema.PATH_LOST)]
_MODULES = [(0, 0, 0, b"", b""), (0x400000, 0x400000, 0x500000, b"12ab", b"/nowhere/solver")]
_FUNCTIONS = [(0, 0, b"", b""), (10, 1, b"solve", b"heat.py")]


def _round(rank: int, at: int) -> tuple[list, list]:
    """Calls and requests of one round: a ring of immediate messages, a Sendrecv, and collectives."""
    after, before = (rank + 1) % RANKS, (rank - 1) % RANKS
    calls = [
        call("MPI_Irecv", at + 1000, at + 1100, comm=WORLD, peer=before, tag=1),
        call("MPI_Isend", at + 1200, at + 1300, comm=WORLD, peer=after, tag=1, sent=4000),
        call("MPI_Waitall", at + 3000 + 100 * rank, at + 5000),
        call("MPI_Sendrecv", at + 6000, at + 7000, comm=FIRST, peer=after, tag=2, sent=64, received=64),
        call("MPI_Bcast", at + 8000, at + 9000 + 10 * rank, comm=WORLD, peer=0, sent=8 * (rank == 0), received=8),
        call("MPI_Allreduce", at + 12000, at + 13000, comm=FIRST, sent=8, received=8),
        call("MPI_Put", at + 14000, at + 14100, comm=WORLD, peer=after, sent=16),
        call("MPI_Win_fence", at + 15000, at + 15500, comm=WORLD),
    ]
    requests = [
        request(RequestKind.RECV_DONE, at + 1000, at + 5000, peer=before, tag=1, bytes=4000),
        request(RequestKind.SEND_DONE, at + 1200, at + 5000, peer=after, tag=1, bytes=4000),
        request(RequestKind.RECEIVED, at + 6000, at + 7000, comm=FIRST, peer=before, tag=2, bytes=64),
    ]
    return calls, requests


def _samples(end: int) -> list[tuple[int, ...]]:
    """Return samples of the main thread and of a thread without calls."""
    rows = [(1000, 0, 0, 0, 0, 0, schema.SAMPLE_BEGIN), (1000, 0, 0, 1, 0, schema.SAMPLER_THREAD, schema.SAMPLE_BEGIN)]
    for number in range(ROUNDS):
        at = 2000 + number * ROUND_NS
        rows.append((at + 9500, 10_000, 2 + number % 3, 0, 0, 0, 0))
        rows.append((at + 9600, 10_000, 1, 1, number % 2, schema.SAMPLER_THREAD, schema.SAMPLE_BY_SIGNAL))
    return [*rows, (end, 500, 0, 0, 0, 0, schema.SAMPLE_END)]


def _rank(rank: int) -> dict:
    """Return the rows of one rank of the whole run."""
    calls = [call("MPI_Init", 500, 1000), call("MPI_Comm_dup", 1100, 1200, comm=WORLD)]
    requests, events, polls = [], [], []
    for number in range(ROUNDS):
        at = 2000 + number * ROUND_NS
        more, done = _round(rank, at)
        calls, requests = calls + more, requests + done
        events += [event(at, schema.REGION_TYPE, 1, flags=1), event(at, schema.PARAMETER_TYPE, 40, flags=1)]
        events += [event(at + 500, schema.REGION_TYPE, 2, flags=1), event(at + 5500, schema.REGION_TYPE, 2, flags=2)]
        events.append(event(at + 10000, 70, number))
        events += [event(at + 16000, schema.REGION_TYPE, 1, flags=2)]
        polls.append(poll("MPI_Test", at + 1400, at + 2400, inside=300, count=5))
    end = 2000 + ROUNDS * ROUND_NS
    calls.append(call("MPI_Finalize", end, end + 500 + rank))
    events += flush(end - 2000, end - 1000)
    window = (7, 0, 64, WORLD, int(schema.ObjectKind.WINDOW), 1, 1, b"")
    puts = [row["enter"] for row in calls if row["call"] in ("MPI_Put", "MPI_Win_fence")]
    return {
        "calls": calls,
        "requests": requests,
        "events": sorted(events, key=lambda row: row["time"]),
        "polls": polls,
        "accesses": [{"enter": enter, "offset": 8, "object": 1, "detail": 0, "thread": 0} for enter in puts],
        "objects": [window],
        "labels": _LABELS,
        "skipped": [skipped(RequestKind.SEND_DONE, end, 2, peer=Peer.PROC_NULL)],
        "cpus": "0-3",
        "call_paths": [2 + k % 3 for k in range(len(calls))],
        "poll_paths": [4] * len(polls),
        "paths": _PATHS,
        "modules": _MODULES,
        "functions": _FUNCTIONS,
        "samples": _samples(end),
    }


def _flushed(rank: dict) -> dict:
    """The same as one block, which its flush tags."""
    blocks = np.zeros(1, schema.BLOCK)
    blocks["count"][0] = [len(rank.get(name, ())) for name in schema.BUFFERED]
    blocks["flags"], blocks["set"] = 1, "counters" in rank
    return rank | {"blocks": blocks}


def _counted(rank: dict) -> dict:
    """The same with two counters."""
    readings = np.arange(4 * len(rank["calls"]), dtype="<u8") * 100
    return rank | {"counters": _COUNTERS, "counts": readings.tolist()}


def whole_run(folder: Path, name: str = "run", *, counters: bool = False) -> Path:
    """A run of three ranks with a row of every table."""
    ranks = [_rank(rank) for rank in range(RANKS)]
    ranks = [_flushed(_counted(rank) if counters else rank) for rank in ranks]
    return write_run(folder, ranks, [range(RANKS)], name=name)


def sampled_run(folder: Path) -> Path:
    """A program without MPI: samples of two threads, down to the end of a recursion, and nothing else."""
    depth = 40
    paths = [(0, 0, 0), *((k, k % 2 or schema.PATH_IN_FUNCTION | 1, 0x1200 + k) for k in range(depth))]
    rows = [(1000 * k, 900, 1 + k % depth, k % 2, k % 7 == 0, schema.SAMPLER_THREAD, 0) for k in range(1, 300)]
    tables = {"paths": paths, "modules": _MODULES, "functions": _FUNCTIONS, "samples": rows}
    return write_run(folder, [{"calls": []} | tables])


def named_run(folder: Path) -> Path:
    """The whole run, with names of its places beside it."""
    run = whole_run(folder)
    offsets = np.array([0x1200, 0x1300], np.uint64)
    names = PlaceFrames.build(
        [(Frame("solve", "/a/solver.c", 12), Frame("main", "/a/solver.c", 40)), (Frame("step", past=3),)]
    )
    known = NameCache()
    known.add(ModuleNames(LoadedModule("/nowhere/solver", "12ab"), offsets, names))
    if not write_names(known, [places_file(folder / "run.ranks")]):
        raise RuntimeError("names were not written")
    return run


def plain_run(folder: Path, name: str = "run", threads: int = 1) -> Path:
    """Two ranks that only send and receive; as many threads of each compute."""
    rows = []
    for rank in range(2):
        calls = []
        for number in range(160):
            name_of = "MPI_Send" if (rank + number) % 2 == 0 else "MPI_Recv"
            moved = {"sent" if name_of == "MPI_Send" else "received": 1000 * (number // 2 % 2)}
            at = 1000 * (number + 1)
            thread = number % threads
            calls.append(call(name_of, at, at + 100, comm=WORLD, peer=1 - rank, tag=number, thread=thread, **moved))
        calls = [call("MPI_Init", 100, 500), *calls, call("MPI_Finalize", 170000, 170100)]
        rows.append({"calls": sorted(calls, key=lambda row: row["thread"])})
    return write_run(folder, rows, name=name)


def as_the_runtime_writes(run: Path, *, compressed: bool = False) -> None:
    """Rewrite rank files and run.h5 with the first bytes that the runtime writes, and the same rows."""
    folder = run.with_suffix(".ranks")
    for path in sorted(folder.glob("0*.h5")):
        given = path.with_suffix(".given")
        path.rename(given)
        with h5py.File(given) as source:
            _copy_into_template(source, path, compressed)
        given.unlink()
    image, at = links.make(schema)
    size = len(list(folder.glob("0*.h5")))
    assert at["size"] < len(image)
    data = bytearray(image)
    data[at["size"] : at["size"] + 8] = size.to_bytes(8, "little")
    run.write_bytes(_with_links(data, at, [f"{folder.name}/{rank:06d}.h5" for rank in range(size)]))


def _copy_into_template(source: h5py.File, path: Path, compressed: bool) -> None:
    made = template.make(schema, [name.decode() for name in source["procedures"]])
    image = bytearray(made.image)
    for table in made.tables if compressed else ():
        if table.filters_at:
            image[table.filters_at : table.filters_at + 2] = template.FILTERS_MESSAGE.to_bytes(2, "little")
    path.write_bytes(image)
    with h5py.File(path, "r+") as file:
        for name in schema.TABLES:
            if len(source[name]):
                file[name].resize((len(source[name]),))
                file[name][:] = source[name][:]
        for name, value in source.attrs.items():
            kept = file.attrs[name]
            text = isinstance(value, bytes)
            file.attrs.modify(name, np.array(value, kept.dtype) if text else np.uint64(int(value) & (2**64 - 1)))


def _with_links(image: bytearray, at: dict[str, int], names: list[str]) -> bytes:
    """The object header of `ranks` behind the template, as csrc/runtime/output/output.c writes it."""
    messages = [_message(2, links._LINK_INFO)]
    for rank, name in enumerate(names):
        value = b"\0" + name.encode() + b"\0/\0"
        body = b"\x01\x08\x40" + bytes([6]) + f"{rank:06d}".encode() + len(value).to_bytes(2, "little") + value
        messages.append(_message(6, body))
    body = b"".join(messages)
    head = b"\x01\0" + len(messages).to_bytes(2, "little") + (1).to_bytes(4, "little")
    head += len(body).to_bytes(4, "little") + bytes(4)
    end = len(image) + len(head) + len(body)
    image[at["end_of_file"] : at["end_of_file"] + 8] = end.to_bytes(8, "little")
    return bytes(image) + head + body


def _message(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 8)
    return kind.to_bytes(2, "little") + len(body).to_bytes(2, "little") + bytes(4) + body


def killed_run(folder: Path) -> Path:
    """Rank 1 was killed after three of its five receives were in its file; two are in its spool, spool/of-1.0, which
    the file names from the folder."""
    (folder / "spool").mkdir()
    receives = [call("MPI_Recv", 10 * k, 10 * k + 7, comm=WORLD, peer=0, received=8) for k in range(1, 6)]
    sends = [call("MPI_Send", 10 * k, 10 * k + 5, comm=WORLD, peer=1, sent=8) for k in range(1, 6)]
    boot = BOOT_ID.read_text().strip()
    killed = {"state": ProcessState.RECORDING, "boot_id": boot, "spool": "spool/of-1", "pid": _NOBODY}
    second = {"calls": receives[:3], "procedures": ["MPI_Recv"]} | killed
    run = write_run(folder, [{"calls": sends, "boot_id": boot, "pid": _NOBODY}, second])
    left = {"calls": receives[2:], "requests": [request(RequestKind.SEND_DONE, 30, 40, peer=0)]}
    rows = {name: table_of(name, left.get(name, []), Ticks(None), ["MPI_Recv"]) for name in schema.BUFFERED}
    write_spool(folder / "spool" / "of-1", "run.ranks/000001.h5", rows, base=[2, 0, 0, 0, 0, 0, 0])
    return run


def dim_of_everything(path: Path) -> Path:
    """Whatever the format can say, whether it could run or not."""
    path.write_text(random_program(Random(3), 40).text())
    return path
