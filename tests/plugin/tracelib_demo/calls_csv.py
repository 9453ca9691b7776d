"""A CSV of calls that block, times in s, as a Trace."""

import csv
from collections import defaultdict, deque
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.sources.registry import Source

HEADER = "rank,call,begin,end,partner,bytes,tag"
EXAMPLE = """\
0,MPI_Send,0.003,0.0031,1,800,7
1,MPI_Recv,0.002,0.0032,0,800,7
0,MPI_Barrier,0.004,0.0061,,,
1,MPI_Barrier,0.006,0.0061,,,
"""
MOST_RANKS = 1 << 16


def open_csv(path, team=None, options=None):
    """Read a file. Raises TracelibError."""
    from analyzer.trace.call_trace import CallTrace

    try:
        with Path(path).open(newline="") as file:
            lines = sorted(csv.DictReader(file), key=lambda line: float(line["begin"]))
        procedures = sorted({line["call"] for line in lines})
        size = 1 + max(int(line["rank"]) for line in lines)
        if size > MOST_RANKS:
            raise ValueError(f"{size} ranks are too many")
        of_rank = [[line for line in lines if int(line["rank"]) == rank] for rank in range(size)]
        calls = [call_rows(of_one, procedures) for of_one in of_rank]
    except (ValueError, TypeError, OverflowError, csv.Error) as error:
        raise TracelibError(f"{path} is damaged: {error}") from error
    return CallTrace(path, procedures, calls, messages_of(calls, procedures))


def call_rows(lines, procedures):
    """Make CALL of the lines of one rank."""
    import numpy as np

    from analyzer.trace import CALL
    from tracelib.schema import Peer
    from tracelib.schema.procedures import COLLECTIVES, RECEIVES, SENDS

    names = [line["call"] for line in lines]
    size = np.array([int(line["bytes"] or 0) for line in lines], np.int64)
    sends, receives, together = (np.isin(names, list(some)) for some in (SENDS, RECEIVES, COLLECTIVES))
    rows = np.zeros(len(lines), CALL)
    rows["enter"] = [round(float(line["begin"]) * 1e9) for line in lines]
    rows["exit"] = [round(float(line["end"]) * 1e9) for line in lines]
    if (rows["exit"] < rows["enter"]).any() or (rows["enter"] < 0).any() or (size < 0).any():
        raise ValueError("a call ends before it begins, or begins before 0, or has a negative size")
    rows["inside"] = rows["exit"] - rows["enter"]
    rows["call"] = [procedures.index(name) for name in names]
    rows["peer"] = [int(line["partner"] or Peer.NONE) for line in lines]
    rows["tag"] = [int(line["tag"] or -1) for line in lines]
    rows["comm"] = np.where(sends | receives | together, 0, -1)  # MPI_COMM_WORLD, none
    rows["sent"], rows["received"] = size * (sends | together), size * (receives | together)
    rows["count"] = 1
    return rows


def messages_of(calls, procedures):
    """Make MESSAGE: the first receive with a source and tag takes the first send, and so on."""
    import numpy as np

    from analyzer.trace import MESSAGE
    from tracelib.schema.procedures import RECEIVES, SENDS

    pairs, on_their_way = [], defaultdict(deque)
    for sending, names in ((True, SENDS), (False, RECEIVES)):
        wanted = np.array([name in names for name in procedures])
        for rank, rows in enumerate(calls):
            for row in rows[wanted[rows["call"]]]:
                peer, tag = int(row["peer"]), int(row["tag"])
                channel = on_their_way[(rank, peer, tag) if sending else (peer, rank, tag)]
                if sending:
                    channel.append(row)
                elif channel:
                    pairs.append((channel.popleft(), peer, row, rank))
    messages = np.zeros(len(pairs), MESSAGE)
    for message, (send, source, receive, destination) in zip(messages, pairs, strict=True):
        message["source"], message["destination"] = source, destination
        message["size"], message["tag"] = send["sent"], send["tag"]
        message["logical_send"], message["physical_send"] = send["enter"], send["exit"]
        message["logical_receive"], message["physical_receive"] = receive["enter"], receive["exit"]
    return messages


def write_example(folder):
    """Write a small file, and return its name."""
    (folder / "example.csv").write_text(f"{HEADER}\n{EXAMPLE}")
    return "example.csv"


SOURCE = Source(
    name="calls-csv",
    title="CSV of calls",
    noun="a CSV of calls",
    endings=(".csv",),
    recognises=lambda path, head: head.startswith(HEADER.encode()),
    open=open_csv,
    example=write_example,
)
