"""Short runs of tokens, in which names are renamed inside each run, as sets of 32-bit hashes.

Numbering names once for a whole file would let one inserted name change every run after it. Here a name within a run
stands for the distance to its last use in that run, or for "new": what is equal up to renaming has equal runs, and an
inserted line changes only the runs that it lies in.

Runs do not cross statements, so the order of independent lines does not count; statements shorter than a run are a
run of their own. What ties statements together are the names: each use of one gives a shingle of the run around it, the
run around its first mention, and how much deeper in blocks it stands. So `exp(sin(x))` and `sin(exp(x))` differ in
whatever order and however many lines they are written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kengine.curate.code.leaves import hash_text
from kengine.curate.code.model import I32, I64, U32, U64, Tokens

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
    away, first_of = _distances([tokens.names for tokens in batch])
    starts = np.concatenate([tokens.starts + at for tokens, at in zip(batch, first)]).astype(np.int64)
    owner: I64 = np.repeat(np.arange(len(batch)), sizes)
    ends: I64 = np.append(starts[1:], count)
    end_of: I64 = np.repeat(ends, ends - starts)

    whole = np.flatnonzero(end_of - np.arange(count) >= LENGTH)
    short = starts[ends - starts < LENGTH]
    every = _hash_every(kept, away)
    uses, mentions = _mentions(first_of)
    around = np.flatnonzero(away >= 0)
    begin_of = np.repeat(starts, ends - starts)[around]
    context: U64 = np.empty(count, np.uint64)
    context[around] = _hash_around(kept, away, around, begin_of, end_of[around])
    depth = np.cumsum(np.isin(kept, _OPENING).astype(np.int64) - np.isin(kept, _CLOSING))
    deeper = (depth[uses] - depth[mentions]).astype(np.uint64)
    tied = _finish(_mix(_mix(context[mentions], context[uses]), deeper))
    hashes = np.concatenate([every[whole], _hash_short(kept, away, short, end_of[short]), tied])
    owners = owner[np.concatenate([whole, short, uses])].astype(np.uint64)
    both = owners << np.uint64(32) | hashes >> np.uint64(32)
    both.sort()
    both = both[np.flatnonzero(np.diff(both, prepend=both[:1] ^ np.uint64(1)))]
    offsets = np.searchsorted(both, np.arange(len(batch) + 1, dtype=np.uint64) << np.uint64(32))
    return both.astype(np.uint32), offsets.astype(np.int64)


def _distances(names: Sequence[I32]) -> tuple[I32, I64]:
    """For each token how far back the same name was last used: 0 for the first use, -1 for what is no name; and where
    it was first mentioned, -1 for what is no name.
    """
    every = np.concatenate(names)
    sizes = [len(n) for n in names]
    counts = np.array([int(n.max(initial=-1)) + 1 for n in names], dtype=np.int64)
    base: I64 = np.repeat(np.cumsum(counts) - counts, sizes)
    places = np.flatnonzero(every >= 0)
    order = places[np.argsort((every + base)[places], kind="stable")]
    found = np.where(every >= 0, 0, -1).astype(np.int32)
    same = (every + base)[order]
    again: I64 = np.flatnonzero(same[1:] == same[:-1]) + 1
    found[order[again]] = order[again] - order[again - 1]
    first: I64 = np.full(len(every), -1, np.int64)
    begins = np.flatnonzero(found[order] == 0)
    first[order] = np.repeat(order[begins], np.diff(np.append(begins, len(order))))
    return found, first


def _mentions(first_of: I64) -> tuple[I64, I64]:
    """Uses of names that were mentioned before, and where that was."""
    uses = np.flatnonzero((first_of >= 0) & (first_of != np.arange(len(first_of))))
    return uses, first_of[uses]


def _hash_every(kept: U64, away: I32) -> U64:
    """Hashes of the runs of LENGTH tokens that begin at each token; those that begin too late have none."""
    runs = max(len(kept) - LENGTH + 1, 0)
    value: U64 = np.zeros(runs, np.uint64)
    for n in range(LENGTH):
        value = _mix(value, _codes(kept[n : n + runs], away[n : n + runs], n))
    return _finish(value)


def _hash_short(kept: U64, away: I32, places: I64, ends: I64) -> U64:
    """Hashes of the runs from `places` to `ends`, of at most LENGTH tokens."""
    value: U64 = np.zeros(len(places), np.uint64)
    last = len(kept) - 1
    for n in range(LENGTH):
        at = np.minimum(places + n, last)
        value = np.where(places + n < ends, _mix(value, _codes(kept[at], away[at], n)), value)
    return _finish(value)


def _hash_around(kept: U64, away: I32, places: I64, begins: I64, ends: I64) -> U64:
    """Hashes of the runs around places, within their statements."""
    starts = np.maximum(places - _BEFORE, begins)
    return _mix(_hash_short(kept, away, starts, ends), (places - starts).astype(np.uint64))


def _codes(kept: U64, away: I32, n: int) -> U64:
    """Tokens as the n-th of a run sees them: a name that was last used before the run began is a new one."""
    return kept + _AWAY[np.where(away <= n, away, 0)]


def _mix(value: U64, token: U64) -> U64:
    value = (value ^ token) * _FACTORS[0]
    return value ^ value >> _SHIFT


def _finish(value: U64) -> U64:
    value = value * _FACTORS[1]
    return value ^ value >> _SHIFT
