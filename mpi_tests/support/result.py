"""Actions of a traced program, twice: its own notes, and the rank files read with plain h5py."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

from tracelib import schema
from tracelib.schema import Peer, RequestKind

Message = tuple[str, int, int, int]
"""Communicator (world ranks, "0 1" or "0 1 | 2 3"), peer's rank in it, tag, bytes."""

Access = tuple[str, int, int, int, int, int, int]
"""Call, row of `objects`, byte offset (of a call with a group its members, as bits), detail, peer, bytes sent, bytes
received."""

Object = tuple[str, int, int, int, int, str]
"""Communicator, kind, bytes, displacement unit, flags, name."""

SENDS = ("MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Rsend", "MPI_Sendrecv", "MPI_Sendrecv_replace")
STARTED_SENDS = ("MPI_Isend", "MPI_Ibsend", "MPI_Issend", "MPI_Irsend", "MPI_Isendrecv", "MPI_Isendrecv_replace")
PLURAL = {"access": "accesses", "error": "errors"}
SENT = (RequestKind.SEND_STARTED, RequestKind.PARTITIONED_SEND_STARTED)
RECEIVED = (RequestKind.RECV_DONE, RequestKind.RECEIVED, RequestKind.PARTITIONED_RECV_DONE)
OTHER_COMPLETIONS = (RequestKind.RMA_DONE, RequestKind.READ_DONE, RequestKind.WRITE_DONE)


@dataclass
class Truth:
    """One rank's own notes (truth.h gives their form)."""

    calls: Counter[str] = field(default_factory=Counter)
    moved: dict[str, tuple[int, int]] = field(default_factory=dict)  # by collectives: bytes sent, received
    sent: Counter[Message] = field(default_factory=Counter)
    received: Counter[Message] = field(default_factory=Counter)
    accesses: Counter[Access] = field(default_factory=Counter)
    objects: list[Object] = field(default_factory=list)
    errors: Counter[tuple[str, int]] = field(default_factory=Counter)  # call, class
    done: Counter[tuple[int, int]] = field(default_factory=Counter)  # RequestKind, bytes


def read_truth(path: Path) -> Truth:
    """The lines of a truth-<rank>.jsonl."""
    truth = Truth()
    for line in path.read_text().splitlines():
        kind, *values = json.loads(line)
        if kind == "call":
            name, count, sent, received = values
            truth.calls[name.removesuffix("_c")] += count
            if sent or received:
                truth.moved[name] = (sent, received)
        elif kind == "object":
            truth.objects.append(tuple(values))
        else:
            getattr(truth, PLURAL.get(kind, kind))[tuple(values)] += 1
    return truth


@dataclass
class RankFile:
    """All tables of one rank."""

    path: Path

    def __post_init__(self) -> None:
        with h5py.File(self.path) as file:
            self.attributes = dict(file.attrs)
            self.tables = {name: file[name][:] for name in schema.TABLES}
            names = file["procedures"][:]
        self.procedures = [n.decode() if isinstance(n, bytes) else str(n) for n in names]

    @property
    def calls(self) -> np.ndarray:
        """Rows of `calls`."""
        return self.tables["calls"]

    @cached_property
    def names(self) -> np.ndarray:
        """Name of each row of `calls`, large-count forms under the plain name."""
        plain = np.array([n.removesuffix("_c") for n in self.procedures])
        return plain[self.calls["call"]] if len(self.calls) else np.array([], dtype=plain.dtype)

    def counts(self) -> Counter[str]:
        """How often each procedure was called, polls that failed included."""
        counts = Counter(map(str, self.names))
        for poll in self.tables["polls"]:
            counts[self.procedures[poll["call"]].removesuffix("_c")] += int(poll["count"])
        return counts

    def moved(self) -> dict[str, tuple[int, int]]:
        """Bytes handed to MPI and taken from it by the calls of each name."""
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for name, sent, received in zip(self.names, self.calls["sent"], self.calls["received"], strict=True):
            sums[str(name)][0] += int(sent)
            sums[str(name)][1] += int(received)
        return {name: (sent, received) for name, (sent, received) in sums.items()}

    def communicator(self, row: int) -> str:
        """Its members by world rank."""
        c = self.tables["communicators"][row]
        local, remote = self.group(c["members"], c["size"]), self.group(c["remote"], c["remote_size"])
        text = " ".join(map(str, local))
        return f"{text} | {' '.join(map(str, remote))}" if len(remote) else text

    def group(self, said: np.uint64, size: np.uint32) -> list[int]:
        """World ranks of a group, as docs/format.md defines what a row of `communicators` says of it."""
        if int(said) < 2**63:
            return self.tables["members"][int(said) :][: int(size)].tolist()
        first, stride = int(said) % 2**32, (int(said) - 2**63) // 2**32
        return [first + k * stride for k in range(int(size))]

    def _messages(self, table: str, chosen: np.ndarray, size: str) -> Counter[Message]:
        rows = self.tables[table][chosen]
        real = rows[rows["peer"] != Peer.PROC_NULL]
        return Counter((self.communicator(r["comm"]), int(r["peer"]), int(r["tag"]), int(r[size])) for r in real)

    def sent(self) -> Counter[Message]:
        """Every message handed over: by a call, or by starting a persistent request."""
        started = np.isin(self.what, SENT)
        return self._messages("calls", np.isin(self.names, SENDS + STARTED_SENDS), "sent") + self._messages(
            "requests", started, "bytes"
        )

    def completed(self) -> Counter[Message]:
        """Every posted send that was completed."""
        return self._messages("requests", self.what == RequestKind.SEND_DONE, "bytes")

    def received(self) -> Counter[Message]:
        """Every message received: by MPI_Recv, by completing a request, as half of a Sendrecv, by MPI_Mrecv."""
        done = np.isin(self.what, RECEIVED)
        return self._messages("calls", self.names == "MPI_Recv", "received") + self._messages("requests", done, "bytes")

    def accesses(self) -> Counter[Access]:
        """Every row of `accesses` with the call that it belongs to."""
        calls = {(int(c["enter"]), int(c["thread"])): (c, str(n)) for c, n in zip(self.calls, self.names, strict=True)}
        found: Counter[Access] = Counter()
        for row in self.tables["accesses"]:
            call, name = calls[int(row["enter"]), int(row["thread"])]
            what = int(row["object"]), self._place(row), int(row["detail"])
            found[name, *what, int(call["peer"]), int(call["sent"]), int(call["received"])] += 1
        return found

    def _place(self, access: np.void) -> int:
        if not access["detail"] & schema.ACCESS_HAS_GROUP:
            return int(access["offset"])
        group = self.tables["communicators"][access["offset"]]
        assert group["flags"] == schema.COMMUNICATOR_IS_GROUP
        return sum(1 << member for member in self.group(group["members"], group["size"]))

    def objects(self) -> list[Object]:
        """Windows and files in the order of creation."""
        none, *rows = self.tables["objects"]
        assert not any(none.tolist()[:-1])
        columns = ("kind", "size", "unit", "flags")
        return [(self.communicator(r["comm"]), *(int(r[c]) for c in columns), r["name"].decode()) for r in rows]

    @property
    def what(self) -> np.ndarray:
        """The column `what` of `requests`, without the ordinal of partitioned operations."""
        return self.tables["requests"]["what"] & ((1 << schema.WHAT_ORDINAL_SHIFT) - 1)

    def collectives(self, what: RequestKind) -> Counter[str]:
        """Bytes handed over and taken by the persistent collectives of each name that were started, or done."""
        rows = self.tables["requests"][self.what == what]
        bytes_of: Counter[str] = Counter()
        for row in rows:
            bytes_of[self.procedures[row["tag"]]] += int(row["bytes"])
        return bytes_of

    def errors(self) -> Counter[tuple[str, int]]:
        """Each error with the call whose exit it stands at."""
        events = self.tables["events"]
        exits = {(int(c["exit"]), int(c["thread"])): str(n) for c, n in zip(self.calls, self.names, strict=True)}
        failed = events[events["type"] == schema.ERROR_TYPE]
        return Counter((exits[int(e["time"]), int(e["thread"])], int(e["value"])) for e in failed)

    def done(self) -> Counter[tuple[int, int]]:
        """Count the completed requests that are no messages, by `what` and bytes."""
        rows = self.tables["requests"]
        rows = rows[np.isin(rows["what"], OTHER_COMPLETIONS)]
        return Counter((int(r["what"]), int(r["bytes"])) for r in rows)

    def flushes(self) -> np.ndarray:
        """(begin, end) in ticks of each tagged flush, in order, threads apart."""
        return self.intervals(schema.FLUSH_TYPE)

    def intervals(self, kind: int) -> np.ndarray:
        """Return the tracer's intervals that are tagged by events of this type."""
        events = self.tables["events"]
        events = events[events["type"] == kind]
        begin, end = events[events["value"] == 1], events[events["value"] == 0]
        assert len(begin) == len(end), "an interval that does not end"
        return np.stack([begin["time"], end["time"]], axis=1)


def rank_files(run: Path) -> list[RankFile]:
    """The rank files beside run.h5, in order of rank."""
    return [RankFile(path) for path in sorted(run.with_suffix(".ranks").glob("[0-9]*.h5"))]
