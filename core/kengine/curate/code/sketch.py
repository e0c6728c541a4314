"""Many candidates at once: digests, sets of shingles, and MinHash bands by rensa."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module

import numpy as np

from kengine.curate.code.model import I64, U32, U64, Sketches, Tokens
from kengine.curate.code.shingles import shingle
from kengine.curate.code.tokens import Files, tokenise
from kengine.errors import UsageError

PERMUTATIONS = 128
_SEED = 11
_MISSED = 1e-3
_OWN = np.uint64(0xD6E8FEB86659FD93)


@lru_cache
def bands_for(threshold: float) -> tuple[int, int]:
    """Bands and rows in each, of PERMUTATIONS hashes: as many rows as miss at most one pair in a thousand.

    A pair of similarity s shares a band of r rows with probability s**r (Leskovec, Rajaraman, Ullman: Mining of
    Massive Datasets, 3.4).
    """
    rows = 1
    for r in range(1, 17):
        if (1 - threshold**r) ** (PERMUTATIONS // r) <= _MISSED:
            rows = r
    return PERMUTATIONS // rows, rows


def sketch(batch: Sequence[Files], threshold: float | None = None) -> Sketches:
    """Sketches of candidates, given as paths and texts of their files.

    threshold: similarity that bands aim at; None makes no bands. Raises UsageError when a library is not installed.
    """
    return sketch_tokens([tokenise(files) for files in batch], threshold)


def sketch_tokens(batch: Sequence[Tokens], threshold: float | None) -> Sketches:
    """Sketches of candidates whose tokens are known."""
    shingles, offsets = shingle(batch)
    digests = np.array([digest(tokens) for tokens in batch], dtype=np.uint64).reshape(len(batch), 2)
    vocabularies = np.array([tokens.vocabulary for tokens in batch], dtype=np.uint64)
    bands = _bands(shingles, offsets, threshold) if threshold is not None else np.empty((len(batch), 0), np.uint64)
    return Sketches(digests, vocabularies, shingles, offsets, bands)


def digest(tokens: Tokens) -> tuple[int, int]:
    """128 bits of all tokens, names numbered in order of appearance."""
    whole = np.where(tokens.names < 0, tokens.kept, tokens.names.astype(np.uint64) * _OWN + _OWN)
    h = hashlib.blake2b(whole.tobytes(), digest_size=16).digest()
    return int.from_bytes(h[:8], "little"), int.from_bytes(h[8:], "little")


def _bands(shingles: U32, offsets: I64, threshold: float) -> U64:
    """uint64[count, bands]; 0 throughout for a candidate without shingles."""
    try:
        hasher = import_module("rensa").RMinHash
    except ImportError as error:
        raise UsageError(f"comparing code needs rensa: pip install 'kernel-engine[curate]' ({error})") from None
    bands, rows = bands_for(threshold)
    # rensa takes hashes of 64 bits
    hashes = (shingles.astype(np.uint64) + np.uint64(1)) * _OWN
    hashes ^= hashes >> np.uint64(31)
    matrix = hasher.digest_matrix_from_flat_token_hashes(hashes, offsets.astype(np.uint64), PERMUTATIONS, _SEED)
    values = np.array(matrix.to_rows(), dtype=np.uint64).reshape(len(offsets) - 1, PERMUTATIONS)
    keys: U64 = np.zeros((len(values), bands), np.uint64)
    for r in range(rows):
        keys = (keys ^ values[:, r : bands * rows : rows]) * _OWN
        keys ^= keys >> np.uint64(32)
    keys += np.arange(bands, dtype=np.uint64)
    keys[np.diff(offsets) == 0] = 0
    return keys


def similarity(one: U32, other: U32) -> float:
    """Jaccard similarity of two ascending sets of shingles; 0 where both are empty."""
    if not len(one) or not len(other):
        return 0.0
    shared = count_shared(one, other)
    return shared / (len(one) + len(other) - shared)


def count_shared(one: U32, other: U32) -> int:
    """How many elements two ascending sets share."""
    if len(one) > len(other):
        one, other = other, one
    at: I64 = np.searchsorted(other, one)
    at[at == len(other)] = 0
    return int(np.count_nonzero(other[at] == one))


def join(parts: Sequence[Sketches]) -> Sketches:
    """Several sketches as one."""
    sizes = [part.offsets[-1] for part in parts]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    return Sketches(
        np.concatenate([part.digests for part in parts]),
        np.concatenate([part.vocabularies for part in parts]),
        np.concatenate([part.shingles for part in parts]),
        np.concatenate([part.offsets[:-1] + begin for part, begin in zip(parts, begins)] + [begins[-1:]]),
        np.concatenate([part.bands for part in parts]),
    )
