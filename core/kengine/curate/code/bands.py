"""Who may be near whom: samples that share the key of a MinHash band stand in one bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kengine.curate.code.model import I32, I64, U64

CROWD = 128
"""A bucket of more samples is split by the keys of further bands, at most SPLITS times."""

SPLITS = 3
LOOKED_AT = 256
"""Levels of a bucket that are looked at for candidates, latest first."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Buckets:
    """Buckets of samples 0 to n - 1 for every band; a sample is put in, and found by those that share a bucket.

    key(band): uint64[n], 0 for a sample without a key. Takes 8 bytes a sample and band.
    """

    def __init__(self, count: int, bands: int, key: Callable[[int], U64]) -> None:
        self._bucket: I32 = np.full((count, bands), -1, np.int32)
        used = 0
        for band in range(bands):
            used = self._fill(band, bands, key, used)
        self._head: I32 = np.full(used, -1, np.int32)
        self._next: I32 = np.full((count, bands), -1, np.int32)

    def _fill(self, band: int, bands: int, key: Callable[[int], U64], used: int) -> int:
        keys = key(band)
        valid = keys != 0
        numbers, sizes = _count(keys)
        for step in range(1, SPLITS + 1):
            crowded = valid & (sizes > CROWD)
            if not crowded.any() or step >= bands:
                break
            keys[crowded] = mix(keys[crowded], key((band + step) % bands)[crowded])
            numbers, sizes = _count(keys)
        shared = np.flatnonzero(valid & (sizes > 1))
        if not len(shared):
            return used
        distinct, numbers = np.unique(numbers[shared], return_inverse=True)
        self._bucket[shared, band] = numbers + used
        return used + len(distinct)

    def shared(self) -> Iterator[int]:
        """Samples that share a bucket with another, ascending."""
        return iter(np.flatnonzero((self._bucket >= 0).any(axis=1)).tolist())

    def put(self, sample: int) -> None:
        """From now on the sample is found."""
        bands = np.flatnonzero(self._bucket[sample] >= 0)
        buckets = self._bucket[sample, bands]
        self._next[sample, bands] = self._head[buckets]
        self._head[buckets] = sample

    def find(self, sample: int) -> list[int]:
        """Samples put in before that share a bucket, those that share most first."""
        bands = np.flatnonzero(self._bucket[sample] >= 0)
        level = self._head[self._bucket[sample, bands]]
        found = []
        for _ in range(LOOKED_AT):
            there = level >= 0
            if not there.any():
                break
            bands, level = bands[there], level[there]
            found.append(level)
            level = self._next[level, bands]
        if not found:
            return []
        candidates, counts = np.unique(np.concatenate(found), return_counts=True)
        result: list[int] = candidates[np.lexsort((candidates, -counts))].tolist()
        return result


def mix(one: U64, other: U64) -> U64:
    """One key of two."""
    both = (one ^ other * _FACTOR) * _FACTOR
    return both ^ both >> np.uint64(32)


def _count(keys: U64) -> tuple[I64, I64]:
    """For each key a number that equal ones share, and how many these are."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = (
        np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(keys) else np.empty(0, np.int64)
    )
    sizes: I64 = np.diff(np.append(begins, len(keys)))
    numbers: I64 = np.empty(len(keys), np.int64)
    counts: I64 = np.empty(len(keys), np.int64)
    numbers[order], counts[order] = np.repeat(np.arange(len(begins)), sizes), np.repeat(sizes, sizes)
    return numbers, counts
