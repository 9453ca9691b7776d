"""A program's own notes of its calls and messages, compared with its recording."""

from collections import Counter

from conftest import Traced

FORTRAN = ("-cpp", "-fallow-argument-mismatch", "-ffree-line-length-none")


def assert_recorded(run: Traced, ranks: int) -> None:
    """Counts equal, and every message with its communicator, actual peer, tag and bytes."""
    truths, files = run.truths(), run.ranks
    assert len(truths) == len(files) == ranks
    for rank, (truth, file) in enumerate(zip(truths, files, strict=True)):
        counts = file.counts()
        assert {name: counts[name] for name in truth.calls} == dict(truth.calls), f"rank {rank}"
        assert_same(file.sent(), truth.sent, f"sent by rank {rank}")
        assert_same(file.received(), truth.received, f"received by rank {rank}")
        assert file.attributes["rank"] == rank
        assert file.attributes["size"] == ranks


def assert_same(recorded: Counter, true: Counter, what: str) -> None:
    """Two bags of messages are the same; what differs is shown, and only that."""
    missing, invented = true - recorded, recorded - true
    assert not missing, f"{what}, not recorded"
    assert not invented, f"{what}, but never really"


def assert_no_other_calls(run: Traced) -> None:
    """In a program that counts every call nothing else may be recorded."""
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        assert file.counts() == truth.calls
