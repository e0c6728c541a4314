"""Which sample stands for which: equal digests first, then true similarity to one that already stands for others.

Samples are taken best first. Each joins the most similar representative within the threshold, or becomes one itself: no
member of a cluster is further from its representative than the threshold, and no chain of small steps joins two
clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kengine.curate.code.bands import Buckets, mix
from kengine.curate.code.model import F32, F64, I64, U64, Flags
from kengine.curate.code.shelf import Shelf
from kengine.curate.code.sketch import similarity

VERIFIED = 24
"""Candidates whose true similarity is worked out, those that share most bands first."""


@dataclass(frozen=True)
class Clusters:
    """representative: int64[n], for each sample the one that stands for it, itself for one that does.

    similarity: float32[n] to it. exact: bool[n], whether both have one digest. sizes: int64[n], members of the cluster
    that a sample stands for.
    """

    representative: I64
    similarity: F32
    exact: Flags
    sizes: I64


def find_clusters(shelf: Shelf, order: I64, thresholds: F64 | None) -> Clusters:
    """The clusters of all samples on a shelf. order: samples, best first.

    thresholds: for each sample the similarity from which on it joins another of its group; None joins equal ones only.
    """
    count = len(shelf)
    rank: I64 = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    equal = _first_equal(shelf, rank)
    representative: I64 = equal.copy()
    alike: F32 = np.ones(count, np.float32)
    if thresholds is not None and count:
        distinct = order[equal[order] == order]
        to, how = _join(shelf, distinct, thresholds[distinct])
        representative[distinct], alike[distinct] = distinct[to], how
        representative, alike = representative[equal], alike[equal]
    exact = equal == equal[representative] if count else np.empty(0, np.bool_)
    return Clusters(representative, alike, exact, np.bincount(representative, minlength=count))


def _first_equal(shelf: Shelf, rank: I64) -> I64:
    """For each sample the best one of its group with the same digest."""
    columns = (shelf.groups, shelf.digests[:, 0], shelf.digests[:, 1])
    by = np.lexsort((rank, *columns[::-1]))
    if not len(by):
        return by
    changes = np.logical_or.reduce([column[by][1:] != column[by][:-1] for column in columns])
    begins = np.flatnonzero(np.concatenate([[True], changes]))
    found: I64 = np.empty(len(by), np.int64)
    found[by] = np.repeat(by[begins], np.diff(np.append(begins, len(by))))
    return found


def _join(shelf: Shelf, samples: I64, thresholds: F64) -> tuple[I64, F32]:
    """For the n-th of the samples the place of its representative among them, and the similarity to it."""
    groups = shelf.groups[samples]

    def key(band: int) -> U64:
        keys = shelf.band(band)[samples]
        return np.where(keys == 0, keys, mix(keys, groups) | np.uint64(1))

    buckets = Buckets(len(samples), shelf.bands, key)
    to: I64 = np.arange(len(samples))
    how: F32 = np.ones(len(samples), np.float32)
    for n in buckets.shared():
        candidates = [c for c in buckets.find(n)[:VERIFIED] if groups[c] == groups[n]]
        best, most = n, float(thresholds[n])
        if candidates:
            own = shelf.shingles_of(samples[n])
            for candidate in candidates:
                found = similarity(own, shelf.shingles_of(samples[candidate]))
                if found > most or (found == most and (best == n or candidate < best)):
                    best, most = candidate, found
                if most == 1.0:
                    break
        if best == n:
            buckets.put(n)
        else:
            to[n], how[n] = best, most
    return to, how
