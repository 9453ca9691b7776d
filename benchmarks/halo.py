"""A halo exchange of any size as a program of operations and as the files of a run: what replays are timed with.

A ring that exchanges 4 KB with both neighbours: 2 Irecv, 2 Isend, a Waitall, and bursts of random length.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from benchmarks.synthetic.image import Image
from benchmarks.synthetic.links import write_links
from tracelib import schema
from tracelib.schema import RequestKind
from tracelib.schema.groups import said_of

CALLS_A_STEP = 5
BYTES = 4096
PROCEDURES = ("MPI_Irecv", "MPI_Isend", "MPI_Waitall")
USUAL = {"state": int(schema.ProcessState.FINALIZED), "host": "node", "boot_id": "boot", "command": "./halo"}
"""Attributes of all ranks."""


def _bursts(ranks: int, calls: int) -> np.ndarray:
    """Return bursts in ns, (ranks, steps)."""
    return np.random.default_rng(1).integers(1000, 100_000, (ranks, calls // CALLS_A_STEP // ranks))


def halo(ranks: int, calls: int) -> Program:
    """Return the operations of the program."""
    streams = []
    for rank, bursts in enumerate(_bursts(ranks, calls)):
        left, right = (rank - 1) % ranks, (rank + 1) % ranks
        one = operations(
            {"kind": OperationKind.IRECV, "peer": left, "request": 0, "bytes": BYTES},
            {"kind": OperationKind.IRECV, "peer": right, "request": 1, "bytes": BYTES, "tag": 1, "burst": 20},
            {"kind": OperationKind.SEND, "peer": right, "bytes": BYTES, "burst": 20, "flags": OperationFlag.IMMEDIATE},
            {"kind": OperationKind.SEND, "peer": left, "bytes": BYTES, "tag": 1, "flags": OperationFlag.IMMEDIATE},
            {"kind": OperationKind.WAIT, "request": 0},
            {"kind": OperationKind.WAIT, "request": 1},
        )
        stream = np.tile(one, len(bursts))
        stream["burst"][:: len(one)] = bursts
        streams.append(stream)
    return Program.from_streams(streams)


def write_halo(folder: Path, ranks: int, calls: int) -> Path:
    """Write the files that the runtime would have written of it, on one node. Return run.h5."""
    (folder / "run.ranks").mkdir(parents=True)
    image = Image(list(PROCEDURES))
    for rank, bursts in enumerate(_bursts(ranks, calls)):
        attributes = USUAL | {"rank": rank, "size": ranks}
        image.write(folder / f"run.ranks/{rank:06d}.h5", _tables(rank, ranks, bursts), attributes)
    write_links(folder / "run.h5", ranks, created_ns=0)
    return folder / "run.h5"


def _tables(rank: int, ranks: int, bursts: np.ndarray) -> dict[str, np.ndarray]:
    steps, waited, call_ns = len(bursts), 3000, 80
    left, right = (rank - 1) % ranks, (rank + 1) % ranks
    first = np.cumsum(bursts + waited + 5 * 100) - waited - 5 * 100 + 1
    enter = first[:, None] + 100 * np.arange(5)
    calls = np.zeros((steps, 5), schema.CALL)
    calls["enter"], calls["exit"] = enter, enter + ([call_ns] * 4 + [waited])
    calls["call"], calls["comm"] = (0, 0, 1, 1, 2), (1, 1, 1, 1, 0)
    calls["peer"], calls["tag"] = (left, right, right, left, schema.Peer.NONE), (0, 1, 0, 1, -1)
    calls["sent"] = (0, 0, BYTES, BYTES, 0)
    requests = np.zeros((steps, 4), schema.REQUEST)
    requests["posted"], requests["completed"] = enter[:, :4], calls["exit"][:, 4:]
    requests["peer"], requests["tag"] = (left, right, right, left), (0, 1, 0, 1)
    requests["comm"], requests["bytes"] = 1, BYTES
    requests["what"] = (RequestKind.RECV_DONE, RequestKind.RECV_DONE, RequestKind.SEND_DONE, RequestKind.SEND_DONE)
    end = int(calls["exit"].max()) + 1
    communicators = np.zeros(3, schema.COMMUNICATOR)
    communicators["id"], communicators["size"] = (0, 1, 2), (0, ranks, 1)
    groups = (said_of(range(ranks)), said_of(range(rank, rank + 1)))
    communicators["members"], communicators["rank"] = (0, *groups), (-1, rank, 0)
    block = np.zeros(1, schema.BLOCK)
    names = list(schema.BUFFERED)
    block["count"][0, [names.index("calls"), names.index("requests")]] = calls.size, requests.size
    return {
        "calls": calls.ravel(), "requests": requests.ravel(), "blocks": block, "communicators": communicators,
        "clock": np.array([(0, 0), (end, end)], schema.CLOCK),
        "objects": np.zeros(1, schema.OBJECT),
    }  # fmt: skip
