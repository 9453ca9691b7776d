"""The eager limit that a .dim of a run names, and its other lines."""

EAGER_LIMIT = "20:0:0:49000014:"


def without_eager_limit(text: str) -> str:
    """The lines but for that which names it."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(EAGER_LIMIT))


def eager_limit(text: str) -> int:
    """Bytes from which on MPI_Send waited in the run; it is named once, as the first event of all."""
    (found,) = [line for line in text.splitlines() if ":49000014:" in line]
    assert next(line for line in text.splitlines() if line.startswith("20:")) == found
    return int(found.removeprefix(EAGER_LIMIT))
