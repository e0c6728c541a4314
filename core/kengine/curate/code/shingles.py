"""Short runs of tokens, in which names are renamed inside each run, as sets of 32-bit hashes.

Numbering names once for a whole file would let one inserted name change every run after it. Here a name within a run
stands for the distance to its last use in that run, or for "new": what is equal up to renaming has equal runs, and an
inserted line changes only the runs that it lies in.

Runs do not cross statements, so the order of independent lines does not count; statements shorter than a run are a
run of their own. What ties statements together are the names: each use of one gives a shingle of the run around it,
the run around the place where the name got its value, and how much deeper in blocks it stands. So `exp(sin(x))` and
`sin(exp(x))` differ in whatever order and however many lines they are written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kengine.curate.code.leaves import hash_text
from kengine.curate.code.model import I32, I64, U32, U64, Flags, Tokens

LENGTH = 7
"""Tokens in a run."""

_BEFORE = LENGTH // 2
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)
_AWAY = np.array([*(0xA0761D6478BD642F * (n + 1) & 0xFFFFFFFFFFFFFFFF for n in range(LENGTH)), 0], dtype=np.uint64)
"""Codes of names by distance; the last one, which index -1 finds, is for tokens that are no names."""
_SHIFT = np.uint64(29)
_OPENING = np.array([hash_text(text) for text in ("(:", "{")], dtype=np.uint64)
_CLOSING = np.array([hash_text(text) for text in (":)", "}")], dtype=np.uint64)


def shingle(batch: Sequence[Tokens]) -> tuple[U32, I64]:
    """The sets of shingles of some candidates, one after the other, each ascending; and where each set begins."""
    sizes = np.array([len(tokens.kept) for tokens in batch], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])
    count = int(first[-1])
    if not count:
        return np.empty(0, np.uint32), np.zeros(len(batch) + 1, np.int64)
    kept = np.concatenate([tokens.kept for tokens in batch])
    names = _number([tokens.names for tokens in batch])
    order = np.flatnonzero(names >= 0)
    order = order[np.argsort(names[order], kind="stable")]
    away = _distances(names, order)
    starts = np.concatenate([tokens.starts + at for tokens, at in zip(batch, first)]).astype(np.int64)
    owner: I64 = np.repeat(np.arange(len(batch)), sizes)
    ends: I64 = np.append(starts[1:], count)
    end_of: I64 = np.repeat(ends, ends - starts)

    whole = np.flatnonzero(end_of - np.arange(count) >= LENGTH)
    short = starts[ends - starts < LENGTH]
    every = _hash_every(kept, away)
    begin_of: I64 = np.repeat(starts, ends - starts)
    uses, origins = _origins(names, order, np.concatenate([tokens.given for tokens in batch]), begin_of)
    around = np.flatnonzero(away >= 0)
    context: U64 = np.empty(count, np.uint64)
    context[around] = _hash_around(kept, away, around, begin_of[around], end_of[around])
    depth = np.cumsum(np.isin(kept, _OPENING).astype(np.int64) - np.isin(kept, _CLOSING))
    deeper = (depth[uses] - depth[origins]).astype(np.uint64)
    tied = _finish(_mix(_mix(context[origins], context[uses]), deeper))
    hashes = np.concatenate([every[whole], _hash_short(kept, away, short, end_of[short]), tied])
    owners = owner[np.concatenate([whole, short, uses])].astype(np.uint64)
    both = owners << np.uint64(32) | hashes >> np.uint64(32)
    both.sort()
    both = both[np.flatnonzero(np.diff(both, prepend=both[:1] ^ np.uint64(1)))]
    offsets = np.searchsorted(both, np.arange(len(batch) + 1, dtype=np.uint64) << np.uint64(32))
    return both.astype(np.uint32), offsets.astype(np.int64)


def _number(names: Sequence[I32]) -> I64:
    """Names as numbers that no two candidates share, -1 for what is no name."""
    counts = np.array([int(n.max(initial=-1)) + 1 for n in names], dtype=np.int64)
    base: I64 = np.repeat(np.cumsum(counts) - counts, [len(n) for n in names])
    every = np.concatenate(names)
    return np.where(every < 0, -1, every + base)


def _distances(names: I64, order: I64) -> I64:
    """For each token how far back the same name was last used: 0 for the first use, -1 for what is no name.

    order: places of names, those of one name together and ascending.
    """
    found = np.where(names >= 0, 0, -1)
    again: I64 = np.flatnonzero(names[order[1:]] == names[order[:-1]]) + 1
    found[order[again]] = order[again] - order[again - 1]
    return found


def _origins(names: I64, order: I64, given: Flags, begin_of: I64) -> tuple[I64, I64]:
    """Uses of names, and where each got its value: the last place of an earlier statement, else its first mention."""
    count = len(order)
    if not count:
        return order, order
    head: Flags = np.ones(count, np.bool_)
    head[1:] = names[order[1:]] != names[order[:-1]]
    run: I64 = np.maximum.accumulate(np.where(head, np.arange(count), 0))
    last = np.maximum.accumulate(np.where(given[order], np.arange(count), -1))
    before = np.concatenate([[-1], last[:-1]])
    earlier: I64 = np.full(len(names), -1, np.int64)
    earlier[order] = np.where(before >= run, order[before], -1)
    origin = earlier.copy()
    for _ in range(2):  # a statement that gives the name anew uses the value from before
        same = np.flatnonzero((origin >= begin_of) & (origin >= 0))
        origin[same] = earlier[origin[same]]
    first: I64 = np.full(len(names), -1, np.int64)
    first[order] = order[run]
    origin = np.where(origin < 0, first, origin)
    uses = np.flatnonzero((origin >= 0) & (origin < begin_of))
    return uses, origin[uses]


def _hash_every(kept: U64, away: I64) -> U64:
    """Hashes of the runs of LENGTH tokens that begin at each token; those that begin too late have none."""
    runs = max(len(kept) - LENGTH + 1, 0)
    value: U64 = np.zeros(runs, np.uint64)
    for n in range(LENGTH):
        value = _mix(value, _codes(kept[n : n + runs], away[n : n + runs], n))
    return _finish(value)


def _hash_short(kept: U64, away: I64, places: I64, ends: I64) -> U64:
    """Hashes of the runs from `places` to `ends`, of at most LENGTH tokens."""
    value: U64 = np.zeros(len(places), np.uint64)
    last = len(kept) - 1
    for n in range(LENGTH):
        at = np.minimum(places + n, last)
        value = np.where(places + n < ends, _mix(value, _codes(kept[at], away[at], n)), value)
    return _finish(value)


def _hash_around(kept: U64, away: I64, places: I64, begins: I64, ends: I64) -> U64:
    """Hashes of the runs around places, within their statements."""
    starts = np.maximum(places - _BEFORE, begins)
    return _mix(_hash_short(kept, away, starts, ends), (places - starts).astype(np.uint64))


def _codes(kept: U64, away: I64, n: int) -> U64:
    """Tokens as the n-th of a run sees them: a name that was last used before the run began is a new one."""
    return kept + _AWAY[np.where(away <= n, away, 0)]


def _mix(value: U64, token: U64) -> U64:
    value = (value ^ token) * _FACTORS[0]
    return value ^ value >> _SHIFT


def _finish(value: U64) -> U64:
    value = value * _FACTORS[1]
    return value ^ value >> _SHIFT
