"""Begin and end of a loop: its first pass may do more or less, and calls like a pass's may come before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analyzer.structure.calls.passes import LoopPasses

LEAST, FIRST_LEAST = 0.6, 0.4
"""A stretch at an end is a pass if it has this share of the typical one's calls; second: at the begin, where paths are
known: a first pass may do something else."""
LONGER = 4
"""Largest length of the first pass relative to the longest other pass."""
FOREIGN = 8
"""Largest number of calls that only the first pass makes."""
MOST_COMPARED = 64
"""Number of passes, spread over all, that are compared to find where each begins."""
MOST_WALKED = 1 << 12
"""Number of calls around an occurrence that are compared one by one."""


class LoopBounds(NamedTuple):
    """A loop's passes as places in the sequence."""

    begins: np.ndarray  # int64 (count,): the first call of each pass
    end: int  # behind the last call of the last one


def bounded(symbols: np.ndarray, loop: LoopPasses, clocks: np.ndarray, *, knows_paths: bool) -> LoopBounds:
    """Return the passes of a loop. A pass begins with the call that comes first in the first one.

    Where paths are not known, a pass that was made before the loop (to warm up) looks like one of the loop. `clocks`:
    looks at the clock up to each call.
    """
    at = _without_odd_begin(symbols, loop, knows_paths=knows_paths)
    pattern = _pattern(symbols, at)
    is_regular = loop.is_regular or (not knows_paths and _is_odd_only_at_begin(symbols, at, pattern))
    whole, lead = divmod(_preceded(symbols, pattern, int(at[0])), len(pattern))
    at = np.concatenate([at[0] - len(pattern) * np.arange(whole, 0, -1), at])
    first = int(at[0]) - lead
    if not is_regular or (knows_paths and _differ(loop.at)):
        end = int(at[-1]) + _of_the_kinds(symbols, loop, int(at[-1]))
        varying = _behind_what_varies(symbols, loop, end)
        if varying is not None:
            return varying
    turned = _around_first(symbols, at, pattern, lead) if is_regular and knows_paths else None
    if turned is not None:
        return turned
    if is_regular:
        at, first, lead, end = _turned(symbols, at, pattern, lead, int(_fixed(loop).sum()))
    if knows_paths:
        at, end = _to_its_last_call(symbols, loop, at, end, lead)
        return LoopBounds(np.concatenate([[first], at[1:] - lead]), end)
    begins = np.concatenate([[first], at[1:] - lead])
    if is_regular:
        run = _cut_run(symbols, end, np.roll(pattern, lead))
        begins, end, lead = begins + run, end + run, lead - run
    warms_up = _warms_up(symbols, begins, end, pattern, lead, clocks)
    return LoopBounds(begins[1:] if warms_up else begins, end)


def _is_odd_only_at_begin(symbols: np.ndarray, at: np.ndarray, pattern: np.ndarray) -> bool:
    """Check whether all stretches but the first make the same calls: among few passes the first makes the whole
    uneven."""
    places = at[1:-1]
    if len(places) < 2 or (np.diff(at[1:]) != len(pattern)).any():
        return False
    some = places[np.unique(np.linspace(0, len(places) - 1, min(len(places), MOST_COMPARED)).astype(np.int64))]
    return all(np.array_equal(symbols[place : place + len(pattern)], pattern) for place in some.tolist())


def _behind_what_varies(symbols: np.ndarray, loop: LoopPasses, end: int) -> LoopBounds | None:
    """Return the passes of a loop that ends with its own calls, after a loop inside that is passed more or less often:
    as many calls follow all its occurrences as follow the last one. None: it begins with its own calls, or cannot be
    told."""
    at = loop.at
    before = _kinds_before(symbols, loop, int(at[0]), LONGER * int(np.diff(at).max()))
    if not 0 < before <= MOST_WALKED or _shared_run(symbols, at - 1, before, -1) == before:
        return None
    after = end - int(at[-1])
    if after > min(MOST_WALKED, int(np.diff(at).min())) or _shared_run(symbols, at, after, 1) < after:
        return None
    return LoopBounds(np.concatenate([[int(at[0]) - before], at[:-1] + after]), end)


def _kinds_before(symbols: np.ndarray, loop: LoopPasses, at: int, most: int) -> int:
    """Count calls up to `at` that passes of the loop make; at most `most`."""
    foreign = np.flatnonzero(loop.typical[symbols[max(at - most, 0) : at][::-1]] == 0)
    return int(foreign[0]) if len(foreign) else min(at, most)


def _shared_run(symbols: np.ndarray, at: np.ndarray, most: int, step: int) -> int:
    """Count equal calls from each of these places on, forwards (1) or backwards (-1)."""
    for number in range(most):
        places = at + step * number
        if places.min() < 0 or places.max() >= len(symbols) or (symbols[places] != symbols[places[0]]).any():
            return number
    return most


def _around_first(symbols: np.ndarray, at: np.ndarray, pattern: np.ndarray, lead: int) -> LoopBounds | None:
    """Find the passes of a loop whose first pass makes calls of its own in the middle, as MEEP, which sets its exchange
    up in the first step that needs it. Passes that are alike then begin in the middle, too. Calls of a part of a pass
    follow them, and most calls of the other part come before them: together these are one pass more. None: there is no
    such first pass.
    """
    length, begin = len(pattern), int(at[0]) - lead
    follows = lead + _followed(symbols, pattern, int(at[-1]), 2 * length) - length
    if not 0 < follows < LEAST * length:
        return None
    wanted = np.roll(pattern, lead)[follows:]
    made = _made(symbols[max(begin - len(wanted) - max(FOREIGN, length), 0) : begin][::-1], wanted)
    if made is None:
        return None
    begins = np.concatenate([[begin - made], at - lead + follows])
    return LoopBounds(begins, int(begins[-1]) + length)


def _turned(
    symbols: np.ndarray, at: np.ndarray, pattern: np.ndarray, lead: int, fixed: int
) -> tuple[np.ndarray, int, int, int]:
    """Find the passes of a loop whose passes are alike.

    The calls after the last occurrence tell where passes end, if the calls before the first one do not.

    Args:
        symbols: Symbol of each call.
        at: Occurrences.
        pattern: Symbols of a pass.
        lead: Calls of a pass before its occurrence.
        fixed: Least number of calls of a pass.

    Returns:
        Occurrences, begin of the first pass, calls of a pass before its occurrence, end of the last pass.
    """
    length, first = len(pattern), int(at[0]) - lead
    follows = _followed(symbols, pattern, int(at[-1]), 2 * length)
    if lead + follows < length:
        begin = _uneven_begin(symbols, pattern[follows:], int(at[0]))
        if begin is not None:
            return at, begin, length - follows, int(at[-1]) + follows
    if lead + follows < LEAST * min(fixed, length):
        end = _uneven_end(symbols, pattern[follows : length - lead], int(at[-1]) + follows)
        if end is None:
            return at[:-1], first, lead, int(at[-1]) - lead
        return at, first, lead, end
    if lead + follows - length >= LEAST * length:
        at = np.append(at, at[-1] + length)
        follows -= length
    return at, first, lead, int(at[-1]) + min(follows, length - lead)


def _to_its_last_call(
    symbols: np.ndarray, loop: LoopPasses, at: np.ndarray, end: int, lead: int
) -> tuple[np.ndarray, int]:
    """Return the occurrences, and the end, of a loop whose last pass is one, however often what lies inside is passed:
    it ends with the call that passes end with, if they make that once each; else, if passes are of different lengths,
    where calls are made that they do not make."""
    every = np.concatenate([at, loop.at[loop.at > at[-1]]])
    last = symbols[every[1:] - lead - 1]
    tail, there = int(last[0]), symbols[every[-1] :]
    if (last == tail).all() and loop.typical[tail] == 1:
        found = np.flatnonzero(there == tail)
        is_there = len(found) and loop.typical[there[: found[0]]].all()
        return (every, int(every[-1] + found[0]) + 1) if is_there else (at, end)
    if not _differ(every):
        return at, end
    return every, int(every[-1]) + _of_the_kinds(symbols, loop, int(every[-1]))


def _differ(at: np.ndarray) -> bool:
    """Check whether stretches between these places are of different lengths."""
    return len(np.unique(np.diff(at))) > 1


def _cut_run(symbols: np.ndarray, end: int, body: np.ndarray) -> int:
    """Count the calls by which passes begin later if they begin in the middle of calls that are repeated at once.

    Calls before the loop may be a few of these. `body`: the calls of a pass.
    """
    others = np.flatnonzero(body != body[0])
    if not len(others) or body[-1] != body[0]:
        return 0
    run = int(others[0])
    return run if np.array_equal(symbols[end : end + run], body[:run]) else 0


def _uneven_begin(symbols: np.ndarray, wanted: np.ndarray, at: int) -> int | None:
    """Return from where up to `at` most of these calls are made, and a few others; None: they are not."""
    made = _made(symbols[max(at - len(wanted) - FOREIGN, 0) : at][::-1], wanted)
    return None if made is None else at - made


def _uneven_end(symbols: np.ndarray, wanted: np.ndarray, at: int) -> int | None:
    """Return until where from `at` on most of these calls are made, and a few others; None: they are not."""
    made = _made(symbols[at : at + len(wanted) + FOREIGN], wanted)
    return None if made is None else at + made


def _made(there: np.ndarray, wanted: np.ndarray) -> int | None:
    """Return how many calls there are up to the last one of those that are wanted; None: most of them are not there."""
    missing = dict(zip(*np.unique(wanted, return_counts=True), strict=True))
    made = last = 0
    for place, symbol in enumerate(there.tolist()):
        if missing.get(symbol, 0):
            missing[symbol] -= 1
            made, last = made + 1, place + 1
    return last if made >= LEAST * len(wanted) else None


def _pattern(symbols: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the symbols of a stretch of the commonest length and content."""
    lengths = np.diff(at)
    values, number = np.unique(lengths, return_counts=True)
    usual = int(values[number.argmax()])
    which = np.flatnonzero(lengths == usual)
    some = which[np.unique(np.linspace(0, len(which) - 1, min(len(which), MOST_COMPARED)).astype(np.int64))]
    stretches = symbols[at[some][:, None] + np.arange(usual)]
    _, first, number = np.unique(stretches, axis=0, return_index=True, return_counts=True)
    return stretches[first[number.argmax()]]


def _followed(symbols: np.ndarray, pattern: np.ndarray, at: int, most: int) -> int:
    """Count calls from `at` on that repeat the pattern."""
    there = symbols[at : at + most]
    differs = np.flatnonzero(there != np.resize(pattern, len(there)))
    return int(differs[0]) if len(differs) else len(there)


def _preceded(symbols: np.ndarray, pattern: np.ndarray, at: int) -> int:
    """Count calls up to `at` that repeat the pattern."""
    there = symbols[max(at - 3 * len(pattern), 0) : at][::-1]
    differs = np.flatnonzero(there != np.resize(pattern[::-1], len(there)))
    return int(differs[0]) if len(differs) else len(there)


def _of_the_kinds(symbols: np.ndarray, loop: LoopPasses, at: int) -> int:
    """Count calls from `at` on that passes of the loop make."""
    foreign = np.flatnonzero(loop.typical[symbols[at:]] == 0)
    return int(foreign[0]) if len(foreign) else len(symbols) - at


def _fixed(loop: LoopPasses) -> np.ndarray:
    """Count the calls of each symbol that every pass makes; a symbol whose number varies counts once."""
    return np.where(loop.varying, np.minimum(loop.typical, 1), loop.typical)


def _without_odd_begin(symbols: np.ndarray, loop: LoopPasses, *, knows_paths: bool) -> np.ndarray:
    """Return the occurrences less those at the begin whose stretch has less of what all others have than a pass. Where
    paths are known it is one, however short, if it makes all that they do in the same order: what lies inside is passed
    less often."""
    at, fixed = loop.at, _fixed(loop)
    least = (FIRST_LEAST if knows_paths else LEAST) * fixed.sum()
    first = 0
    while first < len(at) - 2 and np.minimum(_has(symbols, at, first, len(fixed)), fixed).sum() < least:
        first += 1
    while first and _comes_again(symbols, at, first - 1, first):
        first -= 1
    follows = _follows(symbols, int(at[first]), int(at[-1])) if knows_paths and first else None
    while follows is not None and first:
        has_all = _has(symbols, at, first - 1, len(fixed))[loop.typical > 0].all()
        if not has_all or not np.isin(_follows(symbols, *at[first - 1 : first + 1].tolist()), follows).all():
            break
        first -= 1
    return at[first:]


def _comes_again(symbols: np.ndarray, at: np.ndarray, number: int, behind: int) -> bool:
    """Check whether a stretch is made twice or more behind another one: some passes make fewer calls."""
    length = int(at[number + 1] - at[number])
    same = behind + np.flatnonzero(np.diff(at)[behind:] == length)[:MOST_COMPARED]
    made = symbols[at[number] : at[number + 1]]
    return sum(np.array_equal(symbols[at[k] : at[k + 1]], made) for k in same.tolist()) >= 2


def _has(symbols: np.ndarray, at: np.ndarray, number: int, kinds: int) -> np.ndarray:
    """Count the calls of each symbol in a stretch between occurrences."""
    return np.bincount(symbols[at[number] : at[number + 1]], minlength=kinds)


def _follows(symbols: np.ndarray, begin: int, end: int) -> np.ndarray:
    """Return the different pairs of a call of a stretch and the one that follows it, as numbers."""
    kinds = int(symbols.max()) + 1
    return np.unique(symbols[begin:end].astype(np.int64) * kinds + symbols[begin + 1 : end + 1])


def _warms_up(
    symbols: np.ndarray, begins: np.ndarray, end: int, pattern: np.ndarray, lead: int, clocks: np.ndarray
) -> bool:
    """Check whether the first pass was made before the loop, to warm up.

    Then between it and the second pass other calls are made, or the clock is read, just where passes end. A first pass
    of the loop that does more does so elsewhere.
    """
    if len(begins) <= 3:
        return False
    length, second = len(pattern), int(begins[1])
    turned = np.roll(pattern, lead)
    foreign = np.setdiff1d(symbols[begins[0] : second], symbols[second:end])
    if len(foreign) and _followed(symbols, turned, int(begins[0]), length) == length:
        return True
    read = clocks[begins[1:]] - clocks[begins[1:] - 1]
    return bool(read[0]) and not read[1:].any()
