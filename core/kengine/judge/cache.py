"""A cache with a bound in bytes; the least recently used entry goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class ByteCache(Generic[V]):
    """Values with their sizes, at most `limit` bytes in all; a value larger than that is not kept."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._entries: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()

    def get(self, key: Hashable) -> V | None:
        """The value, now the most recently used; None when it is not there."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, value: V, nbytes: int) -> None:
        """Keep a value, or keep it again with another size, and drop what no longer fits."""
        self.drop(key)
        if nbytes > self.limit:
            return
        self._entries[key] = (value, nbytes)
        self.held += nbytes
        while self.held > self.limit:
            _, (_, gone) = self._entries.popitem(last=False)
            self.held -= gone

    def drop(self, key: Hashable) -> None:
        """Forget one entry if it is there."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.held -= entry[1]

    def drop_all(self, prefix: Hashable) -> None:
        """Forget every entry whose key is a tuple that starts with `prefix`."""
        for key in [k for k in self._entries if isinstance(k, tuple) and k and k[0] == prefix]:
            self.drop(key)

    def __len__(self) -> int:
        return len(self._entries)
