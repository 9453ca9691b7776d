"""Random programs as Dimemas traces."""

from hypothesis import strategies as st
from memory_trace import MemoryTrace

from tracelib.schema import RequestKind

action = st.tuples(
    st.sampled_from(["send", "post", "wait", "barrier", "ibarrier", "flush"]), st.integers(0, 30), st.integers(1, 30)
)


programs = st.lists(st.lists(action, max_size=25), min_size=1, max_size=3)


def trace_of(programs, window=None):
    """Ranks that post receives, complete some of them in any order, send, meet and flush."""
    calls, requests, flushes, spans = [], {}, {}, []
    for rank, actions in enumerate(programs):
        now, rows, done, lost, open_ = 5, [], [], [], []
        for kind, gap, length in actions:
            enter, leave = now + gap, now + gap + length
            now = leave
            if kind == "send":
                rows.append(("MPI_Send", enter, leave, {"peer": 0, "tag": length, "sent": gap, "comm": 0}))
            elif kind == "post":
                rows.append(("MPI_Irecv", enter, leave, {"comm": 0}))
                open_.append((RequestKind.RECV_DONE, enter))
            elif kind == "ibarrier":
                rows.append(("MPI_Ibarrier", enter, leave, {"comm": 0}))
                open_.append((RequestKind.COLLECTIVE_DONE, enter))
            elif kind == "barrier":
                rows.append(("MPI_Barrier", enter, leave, {"comm": 0}))
            elif kind == "wait":
                rows.append(("MPI_Waitsome", enter, leave, {}))
                finished, open_ = open_[gap % 3 :], open_[: gap % 3]
                done += [(what, posted, leave, length, 0, gap, 0) for what, posted in reversed(finished)]
            else:
                lost.append((enter, leave))
        calls.append(rows)
        requests[rank], flushes[rank] = done, lost
        spans.append((5 if actions else 0, now))
    return MemoryTrace(calls, requests=requests, flushes=flushes, spans=spans, window=window)


def records(text: str, kind: str) -> list[list[str]]:
    return [line.split(":") for line in text.splitlines() if line.startswith(f"{kind}:")]


def nanoseconds(text: str, ranks: int) -> list[int]:
    total = [0] * ranks
    for _, task, _, seconds in records(text, "1"):
        total[int(task)] += round(float(seconds) * 1e9)
    return total
