"""Numbers of ranks in a few words."""

from collections.abc import Sequence

_MOST_STRETCHES = 3


def ranks_text(ranks: Sequence[int]) -> str:
    """Numbers in their order as stretches of one step, "0-6:2,9"; "..." for those that are too many to name."""
    parts: list[str] = []
    at = 0
    while at < len(ranks):
        if len(parts) == _MOST_STRETCHES:
            return ",".join([*parts, "..."])
        step = ranks[at + 1] - ranks[at] if at + 1 < len(ranks) else 0
        last = at
        while last + 1 < len(ranks) and ranks[last + 1] - ranks[last] == step:
            last += 1
        if last - at < 2 and step != 1:
            last = at
        text = str(ranks[at]) if last == at else f"{ranks[at]}-{ranks[last]}"
        parts.append(text + (f":{step}" if last > at and step != 1 else ""))
        at = last + 1
    return ",".join(parts)


def ranks_named(ranks: Sequence[int]) -> str:
    """The same in a sentence: "rank 3", "ranks 0-6:2,9"."""
    return f"rank{'s' if len(ranks) > 1 else ''} {ranks_text(ranks)}"
