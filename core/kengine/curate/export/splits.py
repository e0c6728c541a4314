"""Which split a group of samples falls into: by a hash of the group, so that it stays there when a corpus grows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

_KEPT = 100_000


class Splits:
    """Assigns groups to splits. shares: of each split, in all 1. single: the corpus is one group, for the largest."""

    def __init__(self, shares: Mapping[str, float], seed: int, single: bool = False) -> None:
        self.shares = dict(shares)
        self._seed = seed
        self._single = single or max(shares.values()) == 1
        self._largest = max(self.shares, key=lambda name: self.shares[name])
        self._known: dict[str, str] = {}

    def find(self, group: str) -> str:
        """The split of a group."""
        if self._single:
            return self._largest
        split = self._known.get(group)
        if split is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            split = self._known[group] = self._draw(group)
        return split

    def _draw(self, group: str) -> str:
        digest = hashlib.sha256(f"{self._seed}\0{group}".encode(errors="surrogatepass")).digest()
        place, reached = int.from_bytes(digest[:8], "big") / 2**64, 0.0
        for name, share in self.shares.items():
            reached += share
            if place < reached:
                return name
        return self._largest
