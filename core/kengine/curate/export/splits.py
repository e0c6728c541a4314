"""Which split a group of samples falls into: by a hash of the group, so that it stays there when a corpus grows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping


class Splits:
    """Assigns groups to splits; a corpus of one group has the largest split only. shares: of each split, in all 1."""

    def __init__(self, shares: Mapping[str, float], seed: int, groups: Iterable[str]) -> None:
        self.shares = dict(shares)
        self._seed = seed
        first: str | None = None
        self._single = True
        for group in groups:
            if first is None:
                first = group
            elif group != first:
                self._single = False
                break
        self._largest = max(self.shares, key=lambda name: self.shares[name])

    def find(self, group: str) -> str:
        """The split of a group."""
        if self._single:
            return self._largest
        digest = hashlib.sha256(f"{self._seed}\0{group}".encode(errors="surrogatepass")).digest()
        place, reached = int.from_bytes(digest[:8], "big") / 2**64, 0.0
        for name, share in self.shares.items():
            reached += share
            if place < reached:
                return name
        return self._largest
