"""Rank files and spools of processes that were killed."""

import os
import subprocess
from pathlib import Path

import numpy as np
from synthetic import WORLD, Ticks, call, request, table_of, write_run

from tracelib import schema
from tracelib.schema import ProcessState, RequestKind
from tracelib.schema.spool import BOOT_ID


def two_ranks(**attributes):
    first = {"calls": [call("MPI_Send", 10 * k, 10 * k + 5, comm=WORLD, peer=1, sent=8) for k in range(1, 6)]}
    second = {"calls": [call("MPI_Recv", 10 * k, 10 * k + 7, comm=WORLD, peer=0, received=8) for k in range(1, 6)]}
    return [first, second | attributes]


def rank_file(run, rank):
    return run.with_suffix(".ranks") / f"{rank:06d}.h5"


def dead_pid():
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def write_spool(path, rank_path, rows, base=None, thread=0, flushing=schema.FLUSHING, **fields):
    """A spool as the runtime leaves it; `base`: it was being flushed to these rows, or left out; `fields` of its
    header."""
    header = np.zeros(1, schema.SPOOL_HEADER)
    header["magic"], header["thread"], header["rank_file"] = schema.SPOOL_MAGIC, thread, os.fsencode(rank_path)
    for name, value in fields.items():
        header[name] = value
    data, offset = [], schema.SPOOL_HEADER_BYTES
    for position, name in enumerate(schema.BUFFERED):
        table = rows[name]
        header["offset"][0, position], header["count"][0, position] = offset, len(table)
        data.append(table.tobytes() + bytes(64))
        offset += len(data[-1])
    if base is not None:
        header["flushing"], header["base"][0, : len(base)] = flushing, base
    body = header.tobytes().ljust(schema.SPOOL_HEADER_BYTES, b"\0") + b"".join(data)
    Path(f"{path}.{thread}").write_bytes(body)


def killed_run(tmp_path, in_file, **attributes):
    """Rank 1 was killed after `in_file` of its five receives were in its file; (run, spool, rows of all tables)."""
    spool = tmp_path / "shm" / "spool-1"
    spool.parent.mkdir(exist_ok=True)
    a = {
        "state": ProcessState.RECORDING,
        "boot_id": BOOT_ID.read_text().strip(),
        "spool": str(spool),
        "pid": dead_pid(),
    }
    ranks = two_ranks(**(a | attributes))
    calls = ranks[1]["calls"]
    done = [request(RequestKind.SEND_DONE, 30, 40, peer=0)]
    ranks[1] |= {"calls": calls[:in_file], "procedures": ["MPI_Recv"]}
    ranks[0]["boot_id"] = a["boot_id"]
    run = write_run(tmp_path, ranks)
    rows = {name: [] for name in schema.BUFFERED} | {"calls": calls, "requests": done}
    clock = Ticks(None)
    tables = {name: table_of(name, rows[name], clock, ["MPI_Recv"]) for name in schema.BUFFERED}
    return run, spool, tables
